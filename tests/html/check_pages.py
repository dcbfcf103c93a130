#!/usr/bin/env python3
"""Opens HTML reports in Chromium and says what is wrong with them.

    check_pages.py --ncclog build/dev/ncclog --samples sample_logs [--screenshots FOLDER]

Of each page: nothing on the console, no request but for the file itself, search and sort work by
mouse and keyboard, nothing to scroll sideways at 375 and 1,280 pixels, every text at 4.5 to 1 or
better in light and in dark, findings visible without the script; a cell for each rank tells its
reason to who points at it or comes there by keys, buttons copy, the time line has lanes and grows,
paper takes two sheets. Pages of 8, 512 and 20,000 ranks are bounded; how long they take to open is
printed. Then the test tests itself: planted faults have to be found. Ends with 77, which CTest takes
for "skipped", without Chromium.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

from browser import Browser, find_chromium

SKIPPED = 77
WIDTHS = (375, 1280)
MOST_NODES = 40_000
MOST_BYTES = 3_000_000
MOST_SHEETS = 2
SAMPLES = (
    "healthy-1node-8gpu", "healthy-2node-socket", "groups-tp-dp-pp", "healthy-coll-iterations",
    "timestamps", "shm-docker-64m-4gpu", "timeout-rank-skips", "mixed-ib-roce-bond-2x8",
    "perf/h100-pair-p2p-off",
)
CONTRAST = (pathlib.Path(__file__).parent / "contrast.js").read_text()

MARKS = "<script>console.error('run')</script><img/src=x/onerror=console.error('run')>"
HOSTILE_NAME = "]]>&lt;'\"<img src=x onerror=console.error('run')>`|.log"


def hostile_log(ranks=6):
    """Lines of NCCL with everything in them that could act in a page. Bytes, not all of them UTF-8."""
    lines = []
    for rank in range(ranks):
        head = f"evil-{rank}:{700 + rank}:{700 + rank} [{rank}] "
        info = head + "NCCL INFO "
        init = (f"ncclCommInitRank comm 0x7f{rank} rank {rank} nranks {ranks} cudaDev {rank} "
                f"nvmlDev {rank} busId 60 commId 0x99 - Init ")
        lines += [
            info + init + "START",
            info + f"NCCL_DEBUG_FILE set by environment to {MARKS}\u202eevil\x1b[31m{rank}",
            info + f"Channel 00/0 : {rank}[{rank}] -> {(rank + 1) % ranks}[0] via P2P/{MARKS}",
            info + f"Ring 00 : {(rank - 1) % ranks} -> {rank} -> {(rank + 1) % ranks}",
            info + f"NET/Plugin: Failed to find symbol {MARKS}",
            info + init + "COMPLETE",
            head + f"misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/{MARKS}\u05d0\u05d1 "
            "to 9637892 bytes, error: No space left on device (28)",
            info + f"]]> -- > ${{x}} `{MARKS}` &amp; \u2066",
        ]
    return "\n".join(lines).encode() + b"\xff\xc3\n"


def long_log():
    """Words that no column can hold."""
    head = "evil-0:700:700 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to "
    return (head + "A" * 9_000 + "\n" + head + "B" * 100_000 + "\n").encode()


def hang_log(ranks, calls=3):
    """A job with times in which rank 5 leaves out the last call."""
    lines = []

    def say(second, rank, text):
        clock = f"2026-11-20 20:{second // 60:02}:{second % 60:02}"
        lines.append(f"[{clock}] gpu-{rank // 8:04}:{4000 + rank}:{4000 + rank} [{rank % 8}] "
                     f"NCCL INFO {text}")

    for rank in range(ranks):
        init = (f"ncclCommInitRank comm 0x{7000 + rank:x} rank {rank} nranks {ranks} cudaDev "
                f"{rank % 8} nvmlDev {rank % 8} busId {rank % 8}000 commId 0x99 - Init ")
        say(rank % 50, rank, init + "START")
        say(60 + rank % 50, rank, init + "COMPLETE")
        for call in range(calls - (rank == 5)):
            say(120 + 10 * call, rank,
                f"AllReduce: opCount {call:x} sendbuff 0x1 recvbuff 0x1 count 1024 datatype 7 op 0 "
                f"root 0 comm 0x{7000 + rank:x} [nranks={ranks}] stream (nil)")
        if rank != 5:
            lines.append(
                f"[rank{rank}]:[E1120 20:{12 + rank % 3}:00.000000000 ProcessGroupNCCL.cpp:689] [Rank "
                f"{rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={calls}, "
                "OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600008 "
                "milliseconds before timing out.")
    return ("\n".join(lines) + "\n").encode()


def write_report(ncclog, target, inputs):
    """Analyses and writes the page; findings are no failure."""
    done = subprocess.run([ncclog, "analyze", "--format", "html", *map(str, inputs)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr.decode(errors="replace"))
    target.write_bytes(done.stdout)


def console_complaints(page):
    found = []
    for event in page.events("Runtime.consoleAPICalled"):
        found.append(f"console: {event['type']} {event['args'][:1]}")
    for event in page.events("Runtime.exceptionThrown"):
        found.append(f"exception: {event['exceptionDetails'].get('text')}")
    for event in page.events("Log.entryAdded"):
        found.append(f"log: {event['entry']['level']} {event['entry']['text'][:200]}")
    return found


def request_complaints(page, path):
    own = path.resolve().as_uri()
    urls = [event["request"]["url"] for event in page.events("Network.requestWillBeSent")]
    if own not in urls:
        return ["the page's own request was not seen: requests are not watched"]
    return [f"request: {url[:200]}" for url in urls if url != own and not url.startswith("data:")]


def width_complaints(page):
    found = []
    for width in WIDTHS:
        page.set_width(width)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > page.evaluate("innerWidth"):
            found.append(f"at {width} pixels the page is {wide} wide")
    return found


def contrast_complaints(page):
    found = []
    for scheme in ("light", "dark"):
        page.set_scheme(scheme)
        found += [f"{scheme}: {complaint}" for complaint in page.evaluate(CONTRAST)]
    page.set_scheme("light")
    return found


COLUMN = """(() => {
  const table = document.querySelector(".find + .scroll table");
  return [...table.tBodies[0].rows].map((row) => row.cells[1].textContent);
})()"""
HEADING = ".find + .scroll th:nth-child(2)"
DIRECTION = f"document.querySelector('{HEADING}').getAttribute('aria-sort')"


def in_order(values):
    numbers = [value for value in values if value]
    try:
        return numbers == sorted(numbers, key=float)
    except ValueError:
        return True if numbers == sorted(numbers) else len(set(numbers)) > 1 and None


def sort_complaints(page):
    """Once by mouse, then back by keyboard: the button has the focus now."""
    found = []
    before = page.evaluate(COLUMN)
    page.click(HEADING + " button")
    up = page.evaluate(COLUMN)
    if page.evaluate(DIRECTION) != "ascending":
        found.append("a click on a heading does not sort")
    page.press_enter()
    down = page.evaluate(COLUMN)
    if page.evaluate(DIRECTION) != "descending":
        found.append("Enter on a heading does not sort")
    if sorted(before) != sorted(up) or sorted(up) != sorted(down):
        found.append("sorting loses rows")
    filled = [value for value in up if value]
    if [value for value in down if value] != filled[::-1] and len(set(filled)) == len(filled):
        found.append("descending is not ascending turned round")
    return found


SHOWN_ROWS = """[...document.querySelector(".find + .scroll tbody").rows]
    .filter((row) => row.checkVisibility()).map((row) => row.textContent.toLowerCase())"""


def search_complaints(page):
    """Searches for what stands in the last row's first cell."""
    word = page.evaluate("""[...document.querySelector(".find + .scroll tbody").rows].at(-1)
        .textContent.trim().slice(0, 12).toLowerCase()""")
    all_rows = page.evaluate(SHOWN_ROWS)
    expected = [row for row in all_rows if word in row]
    page.click(".find input")
    page.type(word)
    found = []
    if page.evaluate(SHOWN_ROWS) != expected:
        found.append(f"a search for {word!r} does not show the {len(expected)} rows that hold it")
    page.type("\u2603 nothing holds this")
    if page.evaluate(SHOWN_ROWS):
        found.append("a search for nothing shows rows")
    return found


def table_complaints(page):
    if not page.evaluate("document.querySelector('.find:not([hidden]) + .scroll') !== null"):
        return ["no table can be searched"]
    return sort_complaints(page) + search_complaints(page)


VISIBLE = """(() => {
  const heading = document.querySelector("h1");
  const findings = [...document.querySelectorAll(".finding")];
  const tables = [...document.querySelectorAll("#ranks table, #inputs table")];
  const seen = (element) => element.checkVisibility() && element.textContent.trim() !== "";
  return [seen(heading), findings.every(seen), tables.length,
          document.querySelector(".find:not([hidden]), .copy, .tools") === null];
})()"""


def scriptless_complaints(page, path):
    page.set_script(False)
    page.open(path)
    heading, findings, tables, no_search = page.evaluate(VISIBLE)
    page.set_script(True)
    found = []
    if not heading or not findings:
        found.append("without script the verdict or a finding cannot be seen")
    if tables == 0:
        found.append("without script there is no table")
    if not no_search:
        found.append("without script there is a search box or a button that does nothing")
    return found


HEADINGS = """[...document.querySelectorAll("h1, h2, h3, h4")].map((h) => Number(h.tagName[1]))"""


def shape_complaints(page):
    found = []
    levels = page.evaluate(HEADINGS)
    if levels.count(1) != 1 or levels[0] != 1:
        found.append("there is not one heading of the first level, in front")
    if any(after > before + 1 for before, after in zip(levels, levels[1:])):
        found.append(f"headings skip a level: {levels}")
    if page.evaluate("document.documentElement.lang") != "en" or not page.evaluate("document.title"):
        found.append("language or title is missing")
    twice = page.evaluate("""(() => {
        const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
        return ids.filter((id, i) => ids.indexOf(id) !== i);
    })()""")
    return found + [f"the id {one} stands there twice" for one in twice]


CELLS = "[...document.querySelectorAll('.grid b')]"
REASON = """(() => {
  const shown = [...document.querySelectorAll(".grid b:focus, .grid b:hover")].at(-1);
  return shown ? getComputedStyle(shown, "::after").content : "none";
})()"""


def shows_reason(page, cell):
    reason = page.evaluate(f"{CELLS}[{cell}].getAttribute('aria-label')")
    shown = page.evaluate(REASON).strip('"').replace('\\"', '"').replace("\\\\", "\\")
    return shown == reason and reason.strip() != ""


def grid_complaints(page):
    """A cell for each rank, whose reason shows by keys and by the mouse."""
    cells = page.evaluate(CELLS + ".length")
    rows = page.evaluate("document.querySelectorAll('#ranks tbody tr').length")
    if cells == 0:
        return ["ranks are not drawn"] if rows > 0 else []
    found = [] if cells == rows else [f"{cells} cells are drawn for {rows} ranks"]
    page.move_to(".word")
    page.evaluate("document.querySelector('.grid [tabindex=\"0\"]').focus()")
    first = page.evaluate(CELLS + ".indexOf(document.activeElement)")
    if not shows_reason(page, first):
        found.append("a cell with the focus does not show its reason")
    if cells > 1:
        there = first + 1 if first + 1 < cells else first - 1
        page.press(*(("ArrowRight", 39) if there > first else ("ArrowLeft", 37)))
        if page.evaluate(CELLS + ".indexOf(document.activeElement)") != there:
            found.append("arrows do not lead to the next cell")
    found += width_complaints(page)  # With the reason.
    page.evaluate("document.activeElement.blur()")
    page.move_to(".grid b")
    if not shows_reason(page, 0):
        found.append("a cell that is pointed at does not show its reason")
    return found


def time_complaints(page):
    if not page.evaluate("document.querySelector('.lanes') !== null"):
        return []
    found = []
    lanes, names = page.evaluate("""[document.querySelectorAll(".lanes .scroll svg > *").length,
                                     document.querySelectorAll(".lanes > svg text").length]""")
    if lanes < names or not 0 < names <= 64:
        found.append(f"the time line has {names} names and {lanes} shapes")
    if not page.evaluate("[...document.querySelectorAll('#job dt')].some((name) => "
                         "name.textContent === 'time')"):
        found.append("the job does not say when it ran")
    ticks = page.evaluate("[...document.querySelectorAll('.lanes .scroll text.quiet')]"
                          ".map((text) => text.textContent)")
    for tick in ticks:
        digits = tick.split(" ")[0].replace(".", "").strip("0")
        if tick != "what the verdict is about" and len(digits) > 2:
            found.append(f"the time line's axis has a step that is not round: {tick}")
    wide = "document.querySelector('.lanes .scroll svg').clientWidth"
    before = page.evaluate(wide)
    if not page.evaluate("document.querySelector('.tools button') !== null"):
        return found + ["the time line has no buttons"]
    page.click(".tools button")
    if page.evaluate(wide) < 1.9 * before:
        found.append("the time line does not grow")
    page.click(".tools button:last-child")
    return found + width_complaints(page)


COPIED = "navigator.clipboard.readText()"


def copy_complaints(page):
    if not page.evaluate("document.querySelector('.copy.summary') !== null"):
        return ["the summary cannot be copied"]
    found = []
    page.allow_clipboard()
    page.click(".copy.summary")
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    copied = page.evaluate(COPIED)
    if not copied.startswith(page.evaluate("document.querySelector('.word').textContent + ': ' + "
                                           "document.querySelector('h1').textContent")):
        found.append(f"the summary is not copied, but {copied[:60]!r}")
    code = page.evaluate("""(() => {
        const button = [...document.querySelectorAll(".copy:not(.summary)")]
            .find((button) => button.checkVisibility());
        if (!button) return null;
        button.id = "copied-here";
        return button.previousElementSibling.textContent.trimEnd();
    })()""")
    if code is not None:
        page.click("#copied-here")
        page.evaluate("new Promise((done) => setTimeout(done, 50))")
        if page.evaluate(COPIED) != code:
            found.append(f"a command is not copied: {code[:60]!r}")
    return found


def link_complaints(page):
    links = page.evaluate("""[...document.querySelectorAll("a")]
        .filter((link) => !link.getAttribute("href").startsWith("#"))
        .map((link) => [link.href, link.rel])""")
    return [f"a link to {to[:80]}" for to, rel in links
            if not to.startswith("https://") or rel != "noreferrer"]


def size_complaints(page, path):
    nodes = page.evaluate("""(() => {
        const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
        let count = 1;
        while (walker.nextNode()) ++count;
        return count;
    })()""")
    size = path.stat().st_size
    found = []
    if nodes > MOST_NODES or size > MOST_BYTES:
        found.append(f"the page is large: {nodes} nodes, {size} bytes")
    return found, nodes


def big_pages(ncclog, page, folder):
    """Complaints about pages of jobs of all sizes; tells how large they are."""
    found = []
    for ranks in (8, 512, 20_000):
        log = folder / f"ranks-{ranks}.log"
        log.write_bytes(hang_log(ranks))
        path = folder / f"ranks-{ranks}.html"
        write_report(ncclog, path, [log])
        log.unlink()
        page.set_width(WIDTHS[-1])
        begin = time.monotonic()
        page.open(path)
        took = time.monotonic() - begin
        own, nodes = size_complaints(page, path)
        own += width_complaints(page) + time_complaints(page)
        for css in ("ga", "gw"):
            if not page.evaluate(f"document.querySelector('.grid .{css}') !== null"):
                own.append(f"no rank is drawn as {css}")
        if not page.evaluate("document.querySelector('.lanes .moment') !== null"):
            own.append("the moment of the verdict is not drawn")
        print(f"{ranks} ranks: {path.stat().st_size} bytes, {nodes} nodes, "
              f"{page.count_sheets()} sheets, open in {took:.2f} s, {'; '.join(own) or 'sound'}")
        found += own
    return found


def complaints_of(page, path, screenshots=None):
    """Everything that is wrong with the report, which the page opens."""
    page.set_width(WIDTHS[-1])
    page.set_scheme("light")
    page.open(path)
    found = console_complaints(page) + request_complaints(page, path)
    found += shape_complaints(page)
    sheets = page.count_sheets()
    # What was measured takes one more.
    if sheets > MOST_SHEETS + page.evaluate("document.querySelectorAll('#speed').length"):
        found.append(f"printed, the page takes {sheets} sheets")
    found += width_complaints(page)
    if screenshots:
        take_screenshots(page, path, screenshots)
    found += contrast_complaints(page) + width_complaints(page)
    found += table_complaints(page) + grid_complaints(page) + time_complaints(page)
    found += copy_complaints(page) + link_complaints(page) + size_complaints(page, path)[0]
    found += console_complaints(page) + request_complaints(page, path)
    found += scriptless_complaints(page, path)
    return list(dict.fromkeys(found))


def take_screenshots(page, path, folder):
    for scheme in ("light", "dark"):
        page.set_scheme(scheme)
        for width in WIDTHS:
            page.set_width(width)
            page.screenshot(folder / f"{path.stem}-{scheme}-{width}.png")


# Pages with planted faults, each of which has to bring a complaint of its own: what is changed in a
# sound page, and a word of the complaint.
PLANTED = (
    (("console", "<body>", "<body><script>console.error('planted')</script>", "log: error"),
     ("width", "<body>", "<body><svg width='3000' height='9'></svg>", "pixels the page is"),
     ("heading", "<h1>", "<h1>x</h1><h1>", "one heading of the first level")),
    (("exception", "\"use strict\";", "\"use strict\"; throw new Error('planted');", "log: error"),),
    (("request", "<body>", "<body><img src='http://127.0.0.1:9/planted.png'/>", "log: error"),
     ("table", "<table class=\"sortable\">", "<table>", "a click on a heading does not sort")),
    (("handler", "<body>", "<body><p onclick='x()'>x</p><a href='javascript:x()'>x</a>",
      "a link to javascript"),
     ("grid", "class=\"grid\"", "class=\"planted\"", "ranks are not drawn"),
     ("sheets", "<main>", "<main><svg width='9' height='9000'></svg>", "sheets")),
)
NO_POLICY = ("<meta http-equiv=\"Content-Security-Policy\"", "<meta name=\"no-policy\"")
PLANTED_WITHOUT_POLICY = (
    (("console", "<body>", "<body><script>console.error('planted')</script>", "console: error"),
     ("exception", "<body>", "<body><script>throw new Error('planted')</script>", "exception"),
     ("request", "<body>", "<body><img src='http://127.0.0.1:9/planted.png'/>", "request: http"),
     ("contrast", "<body>", "<body><p style='color:#aaa;background:#fff'>planted</p>", "light: 2."),
     ("dark", "<body>", "<body><p style='color:#333'>planted</p>", "dark: ")),
)


def plant(text, old, new):
    if old not in text:
        raise RuntimeError(f"nothing to plant a fault at: {old}")
    return text.replace(old, new, 1)


def missed_faults(page, sound, folder):
    """Faults that were planted in a sound page and not complained about."""
    text = sound.read_text()
    open_text = plant(text, *NO_POLICY)
    missed = []
    for source, pages in ((text, PLANTED), (open_text, PLANTED_WITHOUT_POLICY)):
        for faults in pages:
            planted = source
            for _, old, new, _ in faults:
                planted = plant(planted, old, new)
            path = folder / f"planted-{faults[0][0]}.html"
            path.write_text(planted)
            found = complaints_of(page, path)
            missed += [f"planted fault '{name}' was not found, but: {found}"
                       for name, _, _, complaint in faults
                       if not any(complaint in line for line in [*found, ""])]
    return missed


def pages_of(ncclog, samples, folder):
    for name in SAMPLES:
        path = folder / f"{pathlib.Path(name).name}.html"
        write_report(ncclog, path, [samples / name / "logs"])
        yield path
    logs = folder / "logs"
    logs.mkdir()
    (logs / HOSTILE_NAME.replace("/", "")).write_bytes(hostile_log())
    (logs / "long.log").write_bytes(long_log())
    path = folder / "hostile.html"
    write_report(ncclog, path, [logs])
    yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ncclog", required=True)
    parser.add_argument("--samples", required=True, type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="these instead of the samples'")
    arguments = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium is installed; './dev setup test' installs it")
        return SKIPPED
    failed = False
    with tempfile.TemporaryDirectory() as scratch, Browser(chromium) as browser:
        folder = pathlib.Path(scratch)
        pages = arguments.pages or list(pages_of(arguments.ncclog, arguments.samples, folder))
        page = browser.new_page()
        for path in pages:
            found = complaints_of(page, path, arguments.screenshots)
            failed = failed or bool(found)
            print(f"{path.name}: {path.stat().st_size} bytes, {'; '.join(found) or 'sound'}")
        if not arguments.pages:
            failed = bool(big_pages(arguments.ncclog, page, folder)) or failed
        missed = missed_faults(page, pages[0], folder)
        print("\n".join(missed) or "all planted faults were found")
    return 1 if failed or missed else 0


if __name__ == "__main__":
    sys.exit(main())
