"""The Python module: the same answers as the command line, in a loop, in threads and processes."""

import multiprocessing
import resource
import threading
import time
import unittest

import foretell

BERT = dict(on="inf2.xlarge", workload="bert-base-uncased", seq=128, dtype="bf16")
KERNELS = [dict(gpu="h100-sxm", dtype="bf16", m=m, n=4096, k=4096) for m in (1, 64, 4096)]


def latency(batch):
    return foretell.run(**BERT, batch=batch)["summary"]["latency_s"]


class Module(unittest.TestCase):
    def test_run_is_a_plain_record_and_equal_requests_are_equal(self):
        record = foretell.run(**BERT, batch=8)
        self.assertEqual(record["schema"], "foretell.run/1")
        self.assertEqual(record["context"]["scenario"]["batch"], 8)
        self.assertGreater(record["summary"]["latency_s"], 0)
        self.assertEqual(record, foretell.run(**BERT, batch=8))

    def test_set_changes_the_machine(self):
        slow = foretell.run(**BERT, set={"device.hbm.bandwidth": "80 GB/s"})
        self.assertGreater(slow["summary"]["latency_s"], latency(1))
        self.assertIsNone(slow["summary"]["cost_usd_per_million"])

    def test_compare_takes_lists(self):
        records = foretell.compare(**{**BERT, "dtype": ["bf16", "fp32"]}, batch=[1, 8])
        self.assertEqual([(r["context"]["dtype"], r["context"]["scenario"]["batch"])
                          for r in records], [("bf16", 1), ("bf16", 8), ("fp32", 1), ("fp32", 8)])

    def test_compare_gives_the_records_of_run(self):
        # One process predicts several, and keeps what it has read.
        systems = ["inf2.xlarge", "g6.xlarge", "inf2.xlarge"]
        options = dict(workload="bert-base-uncased", seq=128)
        records = foretell.compare(on=systems, dtype=["bf16", "fp32"], jobs=1, **options)
        alone = [foretell.run(on=system, dtype=dtype, **options)
                 for system in systems for dtype in ("bf16", "fp32")]
        self.assertEqual(records, alone)

    def test_mistakes_are_exceptions_with_the_text_of_the_command_line(self):
        with self.assertRaisesRegex(foretell.ForetellError, "unknown system 'h900'.*list systems"):
            foretell.run(on="h900", workload="gpt2")
        with self.assertRaisesRegex(foretell.ForetellError, "--bach"):
            foretell.run(**BERT, bach=8)
        with self.assertRaisesRegex(foretell.ForetellError, "--seq: the value is empty"):
            foretell.run(**{**BERT, "seq": ""})
        with self.assertRaisesRegex(foretell.ForetellError, "without a value"):
            foretell.run(**BERT, batch=[True])
        self.assertGreater(latency(1), 0)  # and goes on

    def test_predict_keeps_the_order_and_says_what_failed(self):
        rows = foretell.predict(KERNELS + [dict(KERNELS[0], gpu="h900")])
        self.assertEqual([row["status"] for row in rows], ["ok", "ok", "ok", "error"])
        self.assertLess(rows[0]["pred_us"], rows[2]["pred_us"])
        self.assertIn("h900", rows[3]["message"])

    def test_predict_takes_a_frame(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("skipped, no pandas")
        frame = foretell.predict(pandas.DataFrame(KERNELS))
        self.assertEqual(_columns(frame), _columns(pandas.DataFrame(foretell.predict(KERNELS))))

    def test_serve_gives_a_record_or_one_per_load(self):
        load = dict(on="h100-sxm", workload="Llama-3.1-8B", dtype="bf16", requests=20,
                    input_len=64, output_len=16)
        record = foretell.serve(**load, rate=2)
        self.assertEqual(record["schema"], "foretell.serve/1")
        self.assertLessEqual(record["summary"]["ttft_s"]["p50"], record["summary"]["ttft_s"]["p99"])
        self.assertEqual(foretell.serve(**load, rate=[2]), [record])
        with self.assertRaisesRegex(foretell.ForetellError, "rate"):
            foretell.serve(**load, rate="fast")

    def test_plan_names_a_deployment(self):
        record = foretell.plan(workload="Llama-3.1-8B", on="g6.xlarge", dtype="fp8", rate=0.5,
                               input_len=64, output_len=16, requests=20, slo="tpot.p99<=1s")
        self.assertEqual(record["schema"], "foretell.plan/1")

    def test_frames_name_units_and_intervals(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("skipped, no pandas")
        records = foretell.compare(**{**BERT, "dtype": ["bf16", "fp32"]})
        frame = foretell.frame(records)
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["dtype"]), ["bf16", "fp32"])
        self.assertEqual(frame["latency_s"][0], records[0]["summary"]["latency_s"])
        self.assertTrue((frame["latency_s_low"] <= frame["latency_s"]).all())
        self.assertEqual(len(foretell.frame(records[0])), 1)
        self.assertIn("system", foretell.frame(foretell.list("systems")).columns)

    def test_stubs_and_docstrings_cover_the_module(self):
        import inspect
        import os
        with open(os.path.join(os.path.dirname(foretell.__file__), "__init__.pyi")) as file:
            stubs = file.read()
        for name in foretell.__all__:
            self.assertRegex(stubs, rf"(def|class) {name}\b")
            self.assertTrue(inspect.getdoc(getattr(foretell, name)), name)

    def test_sweep_takes_a_dict(self):
        points = foretell.sweep({"study": "s", "base": {"on": "inf2.xlarge", "seq": 128,
                                                        "workload": "bert-base-uncased"},
                                 "vary": {"batch": [1, 8]}}, jobs=1)
        self.assertEqual(len(points), 2)

    def test_show_and_list(self):
        paths = [value["path"] for value in foretell.show("inf2.xlarge")]
        self.assertIn("device.hbm.bandwidth", paths)
        self.assertIn("inf2.xlarge", [row["system"] for row in foretell.list("systems")])
        self.assertRegex(foretell.version(), r"^\d+\.\d+")

    def test_a_loop_needs_no_more_and_more_memory(self):
        for _ in range(10):
            latency(1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(40):
            latency(1)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 4096, "KiB for 40 runs")

    def test_other_threads_go_on(self):
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        for _ in range(3):
            latency(1)
        stop.set()
        thread.join()
        self.assertGreater(len(ticks), 10)

    def test_threads_and_processes_give_the_same(self):
        alone = [latency(batch) for batch in (1, 2, 4, 8)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(latency, (1, 2, 4, 8)), alone)
        found = {}
        threads = [threading.Thread(target=lambda b=b: found.update({b: latency(b)}))
                   for b in (1, 2, 4, 8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([found[b] for b in (1, 2, 4, 8)], alone)


def _columns(frame):
    return sorted(frame.columns)


if __name__ == "__main__":
    unittest.main()
