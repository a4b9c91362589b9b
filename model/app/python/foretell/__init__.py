"""Foretell predicts latency, throughput and cost of neural network inference.

    >>> import foretell
    >>> record = foretell.run(on="inf2.xlarge", workload="bert-large-uncased",
    ...                       batch=8, seq=128, dtype="bf16-matmul")
    >>> record["summary"]["latency_s"]

Parameters are the options of the command of the same name, with _ for -: input_len, in_flight.
A list becomes several values (dtype=["bf16", "fp32"] of compare), set={"device.hbm.bandwidth":
"1.6 TB/s"} changes the machine, True is an option without a value. Results are plain dicts; names
of numbers end with their unit; frame() makes a pandas DataFrame of them. Mistakes are ForetellError
with the text of the command line. What takes longer shows the command line's progress bar on a
terminal; quiet=True does without.

One command runs at a time in a process, and other threads go on meanwhile; several processes
(multiprocessing) predict at the same time.
"""

import csv as _csv
import io as _io
import json as _json
import os as _os
import tempfile as _tempfile

from . import _native

__all__ = ["ForetellError", "InternalError", "compare", "explain", "frame", "list", "plan",
           "predict", "run", "serve", "show", "sweep", "version"]

_list = list


class ForetellError(ValueError):
    """A mistake in the input; the text says what to give instead."""


class InternalError(RuntimeError):
    """A bug of Foretell."""


def _text(value):
    if isinstance(value, bool):
        raise ForetellError("True and False belong to options without a value")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _os.fspath(value) if isinstance(value, _os.PathLike) else str(value)


# Options that are given once per value; the others take a list with commas.
_REPEATED = {"set", "dim", "branch", "trips", "parameter", "where"}


def _words(options):
    words = []
    for name, value in options.items():
        option = "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif name.strip("_") in _REPEATED:
            pairs = value.items() if isinstance(value, dict) else None
            if pairs is not None:
                value = [f"{key}={_text(each)}" for key, each in pairs]
            elif isinstance(value, str):
                value = [value]
            for each in value:
                words += [option, _text(each)]
        elif isinstance(value, (_list, tuple)):
            words += [option, ",".join(_text(each) for each in value)]
        else:
            words += [option, _text(value)]
    return words


def _command(words):
    code, result, messages = _native.command(words, True)
    if code in (0, 1):
        return result
    message = messages.strip()
    if message.startswith("foretell: "):
        message = message[len("foretell: "):]
    if code == 3:
        raise InternalError(message)
    if code > 128:
        raise KeyboardInterrupt
    raise ForetellError(message)


def _json_lines(text):
    return [_json.loads(line) for line in text.splitlines() if line.strip()]


def run(**options):
    """Predicts one workload on one system: the record of `foretell run --format json`.

    run(on="h100-sxm", workload="bert-large-uncased", batch=8, seq=128, dtype="bf16")
    """
    return _json.loads(_command(["run", "--format", "json", *_words(options)]))


def compare(**options):
    """Predicts every combination of the lists given: a list of records.

    compare(on=["inf2.xlarge", "g6.xlarge"], workload="resnet50", dtype=["bf16", "fp32"])
    """
    return _json_lines(_command(["compare", "--format", "json", *_words(options)]))


def explain(**options):
    """A record with `explanation`: where the time goes and what would help."""
    return _json.loads(_command(["explain", "--format", "json", *_words(options)]))


def serve(**options):
    """Simulates a service under a load: the record of `foretell serve --format json`.

    serve(on="h100-sxm", workload="Llama-3.1-8B", dtype="bf16", rate=4, requests=200,
          input_len=512, output_len=128, slo="ttft.p99<=1s")

    A list of loads (rate=[1, 2, 4] or concurrency=[8, 64]) gives a list of records.
    """
    records = _json_lines(_command(["serve", "--format", "json", *_words(options)]))
    several = any(isinstance(options.get(load), (_list, tuple)) for load in ("rate", "concurrency"))
    return records if several else records[0]


def plan(**options):
    """The cheapest deployment that keeps a promise: the record of `foretell plan --format json`.

    plan(workload="Llama-3.1-8B", rate=4, input_len=512, output_len=128, slo="tpot.p99<=40ms",
         on=["g6.xlarge", "p5.48xlarge"])
    """
    return _json.loads(_command(["plan", "--format", "json", *_words(options)]))


def _flat(value, name=""):
    """A dict of dicts as one dict: {"ttft_s": {"p99": 1}} becomes {"ttft_s_p99": 1}."""
    if not isinstance(value, dict):
        return {name: value}
    cells = {}
    for key, inner in value.items():
        cells.update(_flat(inner, f"{name}_{key}".replace(" ", "_") if name else key))
    return cells


def _row(result):
    if isinstance(result.get("record"), dict):  # a point of a study
        return {**_flat(result.get("values", {})), **_row(result["record"])}
    if "summary" not in result or "context" not in result:
        return _flat(result)
    context, summary = result["context"], dict(result["summary"])
    row = {key: context.get(key) for key in ("system", "workload", "dtype")}
    row.update((key, value) for key, value in context.get("scenario", {}).items()
               if value is not None)
    row["set"] = "; ".join(context.get("set", []))
    intervals = summary.pop("interval80", None) or {}
    summary.pop("energy", None)  # by module and kind: a table of its own
    row.update(_flat(summary))
    for number, ends in intervals.items():
        if isinstance(ends, _list) and len(ends) == 2:
            name = number.replace(".", "_")
            row[name + "_low"], row[name + "_high"] = ends
    return row


def frame(results):
    """A pandas DataFrame of what run, compare, serve, predict, sweep, list or show gave: a row each.

    frame(compare(on="inf2.xlarge", workload="gpt2", seq=128, dtype=["bf16", "fp32"]))

    Columns of numbers end with their unit (latency_s, memory_used_bytes), their 80 % interval
    stands in latency_s_low and latency_s_high.
    """
    import pandas
    return pandas.DataFrame([_row(each) for each in
                             ([results] if isinstance(results, dict) else results)])


def _table(rows):
    if hasattr(rows, "to_csv"):
        return rows.to_csv(index=False)
    rows = _list(rows)
    columns = {}
    for row in rows:
        columns.update(dict.fromkeys(row))
    text = _io.StringIO()
    writer = _csv.DictWriter(text, _list(columns), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: "" if value is None else value for key, value in row.items()})
    return text.getvalue()


def predict(rows, **options):
    """Predicts a table: a list of dicts, or a pandas DataFrame, in the columns of `foretell predict`.

    The same comes back, in the same order, with the predictions added (pred_call_ms, …) and
    `status` and `message` for rows that cannot be predicted.
    """
    with _tempfile.NamedTemporaryFile("w", suffix=".csv", delete=True) as file:
        file.write(_table(rows))
        file.flush()
        if hasattr(rows, "to_csv"):
            import pandas
            return pandas.read_csv(_io.StringIO(
                _command(["predict", file.name, *_words(options)])))
        return _json_lines(_command(["predict", file.name, "--format", "json", *_words(options)]))


def sweep(study, **options):
    """Runs a study: the path of a YAML file, or its text, or a dict of what stands in it. One dict per
    point; sweep(…, store="s.sqlite") keeps them and goes on where it was stopped.
    """
    if isinstance(study, dict) or (isinstance(study, str) and "\n" in study):
        # YAML is a superset of JSON.
        text = _json.dumps(study) if isinstance(study, dict) else study
        with _tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=True) as file:
            file.write(text)
            file.flush()
            return sweep(file.name, **options)
    return _json_lines(_command(["sweep", _text(study), "--format", "json", *_words(options)]))


def show(name, **options):
    """The effective values of a system or a workload, each with unit and source."""
    return _json.loads(_command(["show", name, "--format", "json", *_words(options)]))


def list(kind):  # noqa: A001 - the name of the command
    """systems, devices, workloads, dtypes, operators or factors: a list of dicts."""
    return _json.loads(_command(["list", kind, "--format", "json"]))


def version():
    """The version and the commit."""
    return _native.version()
