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
