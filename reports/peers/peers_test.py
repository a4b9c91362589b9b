"""What peers.py works out by itself, and that it finds what moved."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402


class Equations(unittest.TestCase):
    def test_resnet18_has_its_published_operations(self):
        # 1.8e9 multiply-adds: He et al., table 1.
        self.assertAlmostEqual(sum(p * f * w for p, f, w in peers.resnet18_products()) / 1e9, 1.8, delta=0.05)

    def test_an_array_is_never_faster_than_its_multipliers(self):
        work = sum(p * f * w for p, f, w in peers.resnet18_products())
        for size in (8, 32, 128, 512):
            self.assertGreaterEqual(peers.scale_sim_cycles(size, size), work / size**2)

    def test_a_roofline_is_bound_by_bytes_for_one_token_and_by_operations_for_many(self):
        model = {"hidden": 4096, "intermediate": 11008, "layers": 32, "heads": 32}
        slow, fast = ({"flops_per_s": 1.5e14, "bytes_per_s": rate} for rate in (768e9, 1536e9))
        ratio = [peers.llm_viewer_seconds(model, slow, n, 2048) / peers.llm_viewer_seconds(model, fast, n, 2048) for n in (1, 2048)]
        self.assertAlmostEqual(ratio[0], 2, places=6)
        self.assertLess(ratio[1], 1.5)
        weights = 2 * 32 * (4 * 4096**2 + 3 * 4096 * 11008)
        self.assertGreater(peers.llm_viewer_seconds(model, slow, 1, 2048), weights / 768e9)


class Check(unittest.TestCase):
    page = "| a | measured | b | 66.7 ms | 68.6 ms | +3 % |\nWall time: x; Foretell 100 ms.\n"

    def test_wall_times_may_change(self):
        self.assertEqual(peers.first_difference(self.page, self.page.replace("100 ms", "900 ms")), "")

    def test_the_processor_may_be_another(self):
        page = "Wall times of others are as they state them. … says AMD EPYC.\n" + self.page
        self.assertEqual(peers.first_difference(page, page.replace("AMD EPYC", "Xeon 8488C")), "")

    def test_the_processor_has_the_name_that_it_says(self):
        with tempfile.TemporaryDirectory() as folder:
            cpuinfo = pathlib.Path(folder, "cpuinfo")
            cpuinfo.write_text("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nprocessor\t: 1\n")
            self.assertEqual(peers.processor_name(str(cpuinfo)), "Some CPU @ 3 GHz")
            self.assertIn("does not say", peers.processor_name(str(cpuinfo) + ".none"))

    def test_a_number_that_moved_is_found(self):
        self.assertIn("68.6", peers.first_difference(self.page, self.page.replace("68.6", "75.0")))
        self.assertEqual(peers.first_difference(self.page, self.page.replace("68.6", "68.9").replace("+3", "+4")), "")

    def test_a_word_that_moved_is_found(self):
        self.assertIn("measured", peers.first_difference(self.page, self.page.replace("measured", "published")))

    def test_a_program_that_refuses_ends_it_with_what_it_says(self):
        with tempfile.TemporaryDirectory() as folder:
            refuses = pathlib.Path(folder, "refuses")
            refuses.write_text("#!/bin/sh\necho no such system >&2\nexit 2\n")
            refuses.chmod(0o755)
            script = str(pathlib.Path(peers.__file__))
            page = pathlib.Path(folder, "page.md")
            done = subprocess.run([sys.executable, script, "--program", str(refuses), str(page)], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("no such system", done.stderr)
            self.assertFalse(page.exists())


if __name__ == "__main__":
    unittest.main()
