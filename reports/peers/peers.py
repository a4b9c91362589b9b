#!/usr/bin/env python3
"""Writes docs/peers.md: tasks of other simulators, what was measured or published, and what foretell says.

usage: peers.py --program FORETELL [--check] [PAGE]

Every figure that is not foretell's stands in tasks.json with its source. With --check the page is not written:
it has to say what foretell says now, within 5 %, wall times apart.
"""
import argparse
import json
import math
import pathlib
import re
import resource
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent.parent / "docs" / "peers.md"
TOLERANCE = 0.05
REPEATS = 3  # of a command: the shortest time counts


def processor_seconds():
    """Of all commands by now: what else the machine does changes it little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor_name(cpuinfo="/proc/cpuinfo"):
    """As the machine itself calls it."""
    path = pathlib.Path(cpuinfo)
    found = re.search(r"(?m)^model name\s*:\s*(.+)$", path.read_text()) if path.exists() else None
    return found.group(1).strip() if found else "a processor that does not say its name"


def run(program, words):
    """(record, seconds) of a command of foretell."""
    best = math.inf
    for _ in range(REPEATS):
        begin = processor_seconds()
        done = subprocess.run([program, *words, "--format", "json", "-q"], capture_output=True, text=True)
        best = min(best, processor_seconds() - begin)
        if done.returncode != 0:
            raise SystemExit(f"peers.py: foretell {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[0]), best


def summary(record, path):
    """The member of a summary by its dotted path: "ttft_s.mean"."""
    value = record["summary"]
    for name in path.split("."):
        value = value[name]
    return value


def ours_of(task, records):
    """{quantity: value} of foretell, from the records of the task's commands."""
    kind = task["ours"]["kind"]
    values = {}
    if kind == "difference":  # of two networks that differ in a layer
        one, two = records
        for name, path in task["ours"]["paths"].items():
            values[name] = summary(two, path) - summary(one, path)
    elif kind == "summary":
        for name, (path, factor) in task["ours"]["paths"].items():
            values[name] = summary(records[0], path) * factor
    elif kind == "busy_cycles":
        tensor = next(one for one in records[0]["resources"] if one["path"].endswith(".tensor"))
        clock = task["ours"]["clock_hz"]
        values[task["ours"]["busy"]] = tensor["busy"] * records[0]["summary"]["call_s"] * clock
        values[task["ours"]["call"]] = records[0]["summary"]["call_s"] * clock
    else:
        raise SystemExit(f"peers.py: {task['name']}: unknown kind of result '{kind}'")
    return values


# ResNet-18's convolutions and its classifier as products: output pixels, filters, window (He et al., 2015).
def resnet18_products():
    yield 112 * 112, 64, 7 * 7 * 3
    size, channels = 56, 64
    for stage in range(4):
        width = 64 << stage
        if stage > 0:
            size //= 2
            yield size * size, width, channels  # the shortcut, 1x1
        yield size * size, width, 9 * channels
        for _ in range(3):
            yield size * size, width, 9 * width
        channels = width
    yield 1, 1000, 512


def scale_sim_cycles(rows, columns):
    """Output stationary: every fold of pixels and filters takes its window and the way in and out."""
    return sum((2 * rows + columns + window - 2) * math.ceil(pixels / rows) * math.ceil(filters / columns)
               for pixels, filters, window in resnet18_products())


def llm_viewer_seconds(model, hardware, tokens, positions):
    """A roofline per operator, as LLM-Viewer's README describes it; one sequence in 16 bit."""
    width, hidden, layers = model["hidden"], model["intermediate"], model["layers"]
    heads = model["heads"]

    def roofline(flops, elements):
        return max(flops / hardware["flops_per_s"], 2 * elements / hardware["bytes_per_s"])

    def linear(inputs, outputs):
        return roofline(2 * tokens * inputs * outputs, inputs * outputs + tokens * (inputs + outputs))

    scores = heads * tokens * positions
    attention = [
        roofline(2 * tokens * positions * width, tokens * width + positions * width + scores),
        roofline(5 * scores, 2 * scores),
        roofline(2 * tokens * positions * width, scores + positions * width + tokens * width),
    ]
    projections = [linear(width, width)] * 4 + [linear(width, hidden)] * 2 + [linear(hidden, width)]
    element_wise = [roofline(7 * tokens * width, 2 * tokens * width)] * 2  # norms
    element_wise += [roofline(tokens * width, 3 * tokens * width)] * 2  # sums
    element_wise += [roofline(5 * tokens * hidden, 2 * tokens * hidden)]
    return layers * sum(attention + projections + element_wise)


def figure_value(figure):
    if "equation" not in figure:
        return sum(figure["values"]) if "values" in figure else figure["value"]
    if figure["equation"] == "scale_sim":
        return scale_sim_cycles(figure["rows"], figure["columns"])
    if figure["equation"] == "llm_viewer":
        return llm_viewer_seconds(figure["model"], figure["hardware"], figure["tokens"], figure["positions"])
    raise SystemExit(f"peers.py: unknown equation '{figure['equation']}'")


def text_of(value, unit):
    if unit != "s":
        return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.4g} {unit}"
    for size, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= size:
            return f"{value / size:.3g} {name}"
    return f"{value:.3g} s"


def relative(value, other):
    return f"{100 * (value / other - 1):+.0f} %"


def section(program, task):
    records, walls = zip(*(run(program, words) for words in task["commands"]))
    ours = ours_of(task, records)
    lines = [f"## {task['title']}", "", task["about"], "", "```"]
    lines += ["foretell " + " ".join(quoted(word) for word in words) for words in task["commands"]]
    lines += ["```", "", "| quantity | is | by | value | Foretell | difference |", "|---|---|---|---:|---:|---:|"]
    for figure in task["figures"]:
        value = figure_value(figure)
        mine = ours[figure["quantity"]]
        lines.append(f"| {figure['quantity']} | {figure['is']} | {figure['by']} | {text_of(value, figure['unit'])} | "
                     f"{text_of(mine, figure['unit'])} | {relative(mine, value)} |")
    lines.append("")
    if "error" in task:
        lines += [task["error"], ""]
    lines += [f"Wall time: {task['wall']}; Foretell {text_of(sum(walls), 's')}.", "", "Sources: " +
              "; ".join(task["sources"]) + ".", ""]
    return lines


def quoted(word):
    return word if re.fullmatch(r"[\w.,:/=@%+-]+", word) else f"'{word}'"


def page(program):
    tasks = json.loads((FOLDER / "tasks.json").read_text())
    lines = ["# Side by side with other simulators", "", "<!-- Written by reports/peers/peers.py from reports/peers/tasks.json. -->", "",
             "Tasks as others publish them, with what was measured or what they say, and what Foretell says. Every command can be "
             "run; `python3 reports/peers/peers.py --program build/release/foretell` writes this page again. A *measured* figure is one "
             "of real hardware and its difference is an error; a *published* one is another simulator's own result, an *equation* is what "
             "its documented formula comes to, and the difference says only how far the two are apart.", "",
             "Wall times of others are as they state them. Those of Foretell are the processor seconds of all commands of a task, "
             f"start of the program included, on one core of a machine whose /proc/cpuinfo says {processor_name()}.", ""]
    for task in tasks:
        lines += section(program, task)
    return "\n".join(lines).rstrip() + "\n"


def numbers_apart(text):
    """Words and numbers, without wall times and the machine that they were taken on."""
    text = re.sub(r"(?m)^Wall times?( of others|:) .*$", "", text)
    return re.split(r"(\d[\d,]*(?:\.\d+)?)", text)


def first_difference(kept, fresh):
    left, right = numbers_apart(kept), numbers_apart(fresh)
    for at in range(max(len(left), len(right))):
        a, b = (one[at] if at < len(one) else "" for one in (left, right))
        if a == b:
            continue
        if at % 2 == 0:
            if {a.strip(" |"), b.strip(" |")} <= {"+", "-"}:
                continue  # of a difference near 0
            return f"kept '{a}', now '{b}'"
        x, y = (float(one.replace(",", "")) for one in (a, b))
        near = abs(x - y) <= TOLERANCE * max(abs(x), abs(y))
        is_difference = at + 1 < len(left) and left[at + 1].startswith(" % |")
        if not near and not (is_difference and abs(x - y) <= 100 * TOLERANCE):
            return f"kept {a}, now {b}, after '{''.join(left[max(0, at - 6):at])}'"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("page", nargs="?", default=str(PAGE))
    given = parser.parse_args()
    fresh = page(given.program)
    if not given.check:
        pathlib.Path(given.page).write_text(fresh)
        return 0
    difference = first_difference(pathlib.Path(given.page).read_text(), fresh)
    if difference:
        print(f"{given.page}: {difference}; write it anew with peers.py --program {given.program}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
