"""Pages of -e html in headless Chromium, through its debugging pipe: every pane in light and dark, links, keys, an empty console,
and no request but that for the page itself.

  browser_test.py --browser /usr/bin/chromium --tool viewed=build/bin/viewed_gen [--tool matmul=…] [--pictures FOLDER]

Code 77 where there is no browser.
"""
import argparse
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

MOST_BYTES = 2_000_000  # of the page of the matrix product
READ, WRITE = 3, 4      # where the browser reads commands and writes answers


class Browser:
    def __init__(self, program, folder):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # The browser wants its pipes at 3 and 4; a shell puts them there.
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$0" "$@" {READ}<&{commands} {WRITE}>&{answers}', program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-extensions", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "--window-size=1500,950"],
            pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.next, self.buffer, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self.answers, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self.buffer += chunk
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.next += 1
        command = {"id": self.next, "method": method, "params": parameters}
        if hasattr(self, "session"):
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message(60)
            if answer is None:
                raise RuntimeError(f"no answer to {method}")
            if answer.get("id") == self.next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def key(self, key):
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "")

    def click(self, selector):
        """With the mouse, at the middle of what can be seen of the element."""
        at = self.evaluate(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
          e.scrollIntoView({{block: "center"}}); const r = e.getBoundingClientRect();
          return [r.left + Math.min(r.width / 2, 60), r.top + r.height / 2]; }})()""")
        assert at, f"nothing to click at {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def open(self, url, scheme):
        self.events.clear()
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        for _ in range(200):
            if self.evaluate("document.body && document.body.dataset.ready") == "yes":
                return
            time.sleep(0.05)
        raise AssertionError(f"{url} is not ready: {self.complaints()}")

    def complaints(self):
        self.evaluate("0")  # what was said before has arrived
        said = []
        for e in self.events:
            method, p = e.get("method"), e.get("params", {})
            if method == "Runtime.exceptionThrown":
                said.append(p["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            if method == "Runtime.consoleAPICalled":
                said.append("console: " + " ".join(str(a.get("value")) for a in p["args"]))
            if method == "Log.entryAdded":
                said.append("log: " + p["entry"]["text"])
            if method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "about:")):
                said.append("request: " + p["request"]["url"])
        return said

    def end(self):
        os.close(self.commands)
        self.process.terminate()
        self.process.wait(20)


def expect(found, expected, what):
    assert found == expected, f"{what}: expected {expected!r}, found {found!r}"


def picture(browser, folder, name):
    if folder:
        (folder / f"{name}.png").write_bytes(base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"]))


def look_at(browser, page, pictures, scheme):
    name = page.stem
    browser.open(page.as_uri(), scheme)
    count = lambda selector: browser.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    luminance = sum(int(v) for v in background[4:-1].split(","))
    assert (luminance < 200) == (scheme == "dark"), f"{name}: the background is {background} in {scheme}"
    panes = browser.evaluate("panes.map(p => p.name)")
    for number, pane in enumerate(panes, 1):
        browser.key(str(number))
        expect(browser.evaluate("document.querySelector('.pane.shown').id"), "pane-" + pane, f"{name}: key {number}")
        expect(browser.evaluate("location.hash.slice(1).split('/')[0]"), pane, f"{name}: the address")
        picture(browser, pictures, f"{name}-{pane}-{scheme}")
    expect(count("#pane-program .node"), browser.evaluate("data.graph.nodes.length"), f"{name}: nodes")
    browser.key("d")
    assert browser.evaluate("document.documentElement.dataset.theme") != scheme, f"{name}: d changes the theme"
    browser.key("d")
    return panes, count


def steps(browser, name, panes, count):
    browser.key(str(panes.index("schedule") + 1))
    browser.key("Home")
    expect(browser.evaluate("schedulePane.step"), 0, f"{name}: Home")
    browser.key("ArrowRight")
    expect(browser.evaluate("schedulePane.step"), min(1, browser.evaluate("data.steps.length - 1")), f"{name}: ArrowRight")
    browser.key("End")
    expect(browser.evaluate("schedulePane.step"), browser.evaluate("data.steps.length - 1"), f"{name}: End")
    assert browser.evaluate("data.steps.length") == 1 or count("#pane-schedule .text .new, #pane-schedule .text .gone") > 0, f"{name}: a step marks what it changed"
    if browser.evaluate("Boolean(schedulePane.sourceText) && data.steps.some(s => s.place)"):
        browser.click("#pane-schedule .text .step")  # a line of the user's with steps
        assert count("#pane-schedule .steps li.mark") > 0, f"{name}: a line of the source marks its steps"
        browser.click("#pane-schedule .steps li:nth-child(2)")
        assert count("#pane-schedule .column:last-child .text .mark") == 1, f"{name}: a step marks its line"


def code(browser, name, panes):
    browser.key(str(panes.index("code") + 1))
    names = browser.evaluate("data.code.map(c => c.name)")
    pane = next((n for n in ("ptx", "spirv", "assembly") if n in names), "kernel")
    line = browser.evaluate(f"(() => {{ const of = data.code.find(c => c.name === {pane!r}).of; return data.code[0].of.findIndex(k => k > 5 && of.includes(k)); }})()")
    assert line > 0, f"{name}: no line of the kernel is in {pane}"
    browser.evaluate(f"codePane.columns.get('kernel').text.rows[{line}].id = 'wanted'")
    browser.click("#wanted")
    expect(browser.evaluate("codePane.line"), line, f"{name}: a line that was clicked")
    marked = browser.evaluate(f"codePane.columns.get({pane!r}).text.rows.filter(r => r.classList.contains('mark')).length")
    assert marked > 0, f"{name}: line {line} of the kernel marks none of {pane}"
    browser.evaluate(f"codePane.columns.get({pane!r}).text.rows.find(r => r.classList.contains('mark')).id = 'back'")
    browser.key("ArrowDown")
    browser.click("#back")
    expect(browser.evaluate("codePane.line"), line, f"{name}: back from {pane}")
    if browser.evaluate(f"Boolean(data.code[0].places[{line}] && codePane.columns.get('source').text)"):
        marked = browser.evaluate("codePane.columns.get('source').text.rows.findIndex(r => r.classList.contains('mark')) + 1")
        expect(marked, browser.evaluate(f"data.code[0].places[{line}][1]"), f"{name}: the user's line of line {line}")
        if pane in ("kernel", "spirv"):  # and back, from the user's line
            browser.evaluate("codePane.columns.get('source').text.rows.find(r => r.classList.contains('mark')).id = 'user'")
            browser.key("Escape")
            browser.click("#user")
            marked = browser.evaluate(f"codePane.columns.get({pane!r}).text.rows.filter(r => r.classList.contains('mark')).length")
            assert marked > 0, f"{name}: the user's line marks none of {pane}"
    browser.click("#pane-code .controls label:last-child input")


def run(browser, name, panes):
    browser.key(str(panes.index("run") + 1))
    browser.key("End")
    last = browser.evaluate("runPane.frames - 1")
    expect(browser.evaluate("runPane.frame"), last, f"{name}: End")
    browser.key("Home")
    # A point of the first stage that is drawn has another color when it is computed than before.
    pixels = "document.querySelector('#pane-run canvas').toDataURL()"
    before = browser.evaluate(pixels)
    browser.key("End")
    assert browser.evaluate(pixels) != before or last == 0, f"{name}: the picture stays as it was"
    browser.key("Home")
    browser.key(" ")
    for _ in range(100):
        if last == 0 or browser.evaluate("runPane.frame") > 0:
            break
        time.sleep(0.05)
    else:
        raise AssertionError(f"{name}: it does not play")
    if browser.evaluate("runPane.playing"):
        browser.key(" ")
        expect(browser.evaluate("runPane.playing"), False, f"{name}: it stops")


def profile(browser, name, panes, folder, recorded, pictures):
    browser.key(str(panes.index("profile") + 1))
    said = "document.getElementById('trace-says').textContent"
    assert "ASHLAR_PROFILE" in browser.evaluate(said), f"{name}: no word on how to record"

    def opens(path):
        before = browser.evaluate(said)
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        node = browser.call("DOM.querySelector", nodeId=root, selector="#trace")["nodeId"]
        browser.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)
        for _ in range(100):
            if browser.evaluate(said) != before:
                return browser.evaluate(said)
            time.sleep(0.05)
        raise AssertionError(f"{name}: {path} was opened, and nothing was said")

    function = browser.evaluate("data.function")
    for text, message in (("[1,", "not JSON"), ("{}", "it has no traceEvents"), ('{"traceEvents": []}', "it has no event of a kernel"),
                          (json.dumps({"traceEvents": [{"ph": "X", "cat": "call", "name": "g", "ts": 0, "dur": 1, "args": {"kernel": "g"}}]}),
                           f"it has no call of {function}, only of g")):
        wrong = pathlib.Path(folder) / f"wrong{len(message)}.json"
        wrong.write_text(text)
        assert f"{wrong.name}: {message}" in opens(wrong), f"{name}: {browser.evaluate(said)}"
    trace = json.loads(recorded.read_text())["traceEvents"] if recorded else []
    trace = [e for e in trace if e["ph"] == "X" and e["args"]["kernel"] == function]
    if not trace:
        return  # another page's
    calls = [e for e in trace if e["cat"] == "call"]
    assert f"{recorded.name}: {len(calls)} calls" in opens(recorded), f"{name}: {browser.evaluate(said)}"
    stages = {(e["name"], e["args"]["line"], e["cat"] == "inside") for e in trace if e["cat"] != "call"}
    expect(browser.evaluate("document.querySelectorAll('.profile tbody tr').length"), len(stages), f"{name}: rows of the table")
    browser.key("End")
    call = max(calls, key=lambda e: e["ts"])
    within = [e for e in trace if e["ts"] < call["ts"] + call["dur"] and e["ts"] + e["dur"] > call["ts"]]
    expect(browser.evaluate("document.querySelectorAll('#timeline .event').length"), len(within), f"{name}: events of the last call")
    time_of = sum(e["dur"] for e in trace if e["cat"] in ("stage", "inside"))
    found = browser.evaluate("profilePane.rows.reduce((s, r) => s + r.time, 0)")
    assert abs(found - time_of) < 1e-6 * max(1, time_of), f"{name}: {found} microseconds in the table, {time_of} in the trace"
    browser.click(".profile tbody tr:first-child td:first-child")  # a stage marks its bars and its line
    assert browser.evaluate("document.querySelectorAll('#timeline .event.chosen').length") > 0, f"{name}: a stage marks its bars"
    line = browser.evaluate("profilePane.rows[0].line.split(':')[1]")
    expect(browser.evaluate("document.querySelector('#pane-profile .text .mark').dataset.n"), line, f"{name}: a stage marks its line")
    picture(browser, pictures, f"{name}-recorded-{browser.evaluate('document.documentElement.dataset.theme')}")
    browser.key("Home")
    expect(browser.evaluate("profilePane.call"), 0, f"{name}: Home")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", required=True)
    parser.add_argument("--tool", action="append", default=[])
    parser.add_argument("--page", type=pathlib.Path, action="append", default=[], help="one that is there already")
    parser.add_argument("--profiled", type=pathlib.Path, help="a program that records calls of stages, a kernel of the tool recorded")
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    if not arguments.browser:
        print("skipped: viewer_in_browser, there is no chromium")
        return 77
    tools = dict(t.split("=", 1) for t in arguments.tool)
    wanted = [("viewed", "ring", "x86-64-v3", 0), ("viewed", "transposed", "cuda-sm_80", 0), ("viewed", "refused", "x86-64", 1),
              ("viewed", "transposed", "vulkan", 0), ("viewed", "lengths", "cuda-tile-sm_80", 0), ("recorded", "stages", "x86-64-v3", 0),
              ("matmul", "matmul_bias", "x86-64-v3", 0)]
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pages = [page.absolute() for page in arguments.page]
        for tool, name, target, code_expected in wanted:
            if tool not in tools:
                continue
            pages.append(pathlib.Path(folder) / f"{name}-{target}.html")
            made = subprocess.run([tools[tool], "-g", name, "-e", f"html={pages[-1]}", "-o", folder, "--quiet", "target=" + target], capture_output=True, text=True, check=False)
            if target == "vulkan" and "ASHLAR_VULKAN" in made.stderr:  # a build without it
                pages.pop()
                continue
            expect(made.returncode, code_expected, f"{name}: {made.stderr}")
            assert tool != "matmul" or pages[-1].stat().st_size <= MOST_BYTES, f"{name}: {pages[-1].stat().st_size} bytes"
        recorded = None
        if arguments.profiled:
            recorded = pathlib.Path(folder) / "trace.json"
            subprocess.run([arguments.profiled, "repeat", "3"], env={**os.environ, "ASHLAR_PROFILE": str(recorded)}, check=True, stdout=subprocess.DEVNULL)
        browser = Browser(arguments.browser, folder)
        try:
            for page in pages:
                for scheme in ("light", "dark"):
                    panes, count = look_at(browser, page, arguments.pictures, scheme)
                    steps(browser, page.stem, panes, count)
                    if "code" in panes:
                        code(browser, page.stem, panes)
                    run(browser, page.stem, panes)
                    if "profile" in panes:
                        profile(browser, page.stem, panes, folder, recorded, arguments.pictures)
                    if "refusal" in panes:
                        browser.key(str(panes.index("refusal") + 1))
                        expect(count("#drawing .iteration.one, #drawing .iteration.two"), 2, "the iterations of the refusal")
                    expect(browser.complaints(), [], f"{page.stem}, {scheme}: what the console and the network saw")
        finally:
            browser.end()
    print(f"{len(pages)} pages, each in light and dark")
    return 0


if __name__ == "__main__":
    sys.exit(main())
