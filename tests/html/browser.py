"""A headless Chromium, driven through its own protocol over a pipe. Nothing but Python is needed.

    with Browser("/usr/bin/chromium") as browser:
        page = browser.new_page()
        page.open("/tmp/report.html")
        page.evaluate("document.title")

Messages are JSON with a NUL behind each: the browser reads them from its descriptor 3 and writes
answers and events to 4. What the protocol calls a session is one page here.
"""

import base64
import fcntl
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-dev-shm-usage",
    "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
    "--disable-sync", "--mute-audio", "--force-color-profile=srgb", "about:blank",
]


def find_chromium():
    """Path of an installed Chromium; None if there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, path, seconds=60):
        self._profile = tempfile.mkdtemp(prefix="ncclog-chromium-")
        self._seconds = seconds
        self._next_id = 0
        self._unread = b""
        self.events = []  # Of all pages, until somebody takes them.
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()

        def place_descriptors():
            # Copies first: the pipes may stand where 3 and 4 have to be.
            copies = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (their_in, their_out)]
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)
            for copy in copies:
                os.close(copy)

        self._process = subprocess.Popen(
            [path, "--user-data-dir=" + self._profile, *FLAGS], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=place_descriptors)
        os.close(their_in)
        os.close(their_out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """Asks and waits for the answer. Events that come meanwhile are kept."""
        self._next_id += 1
        message = {"id": self._next_id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._write(json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self._seconds
        while True:
            answer = self._read(end)
            if answer.get("id") == self._next_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, session):
        """Waits until that event has come. Events stay where they are."""
        end = time.monotonic() + self._seconds
        while not any(e.get("method") == method and e.get("sessionId") == session
                      for e in self.events):
            self.events.append(self._read(end))

    def new_page(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session)

    def _write(self, data):
        while data:
            data = data[os.write(self._out, data):]

    def _read(self, end):
        while b"\0" not in self._unread:
            if not select.select([self._in], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._in, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._unread += more
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)


class Page:
    """One tab. What it asked for and complained about since it was opened is in its events."""

    def __init__(self, browser, session):
        self._browser = browser
        self._session = session
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def open(self, path):
        self._browser.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self._browser.wait_for("Page.loadEventFired", self._session)

    def events(self, method):
        """Parameters of all events of that name."""
        return [e["params"] for e in self._browser.events
                if e.get("method") == method and e.get("sessionId") == self._session]

    def evaluate(self, expression):
        """The value of a JavaScript expression, which has to be plain data."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description"))
        return answer["result"].get("value")

    def set_width(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def set_scheme(self, scheme):
        """"light" or "dark"."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def set_script(self, allowed):
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def _middle_of(self, selector):
        """Scrolls to the first element that fits."""
        return self.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            element.scrollIntoView({{block: "center", inline: "center"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")

    def click(self, selector):
        """Presses the mouse in the middle of the first element that fits."""
        x, y = self._middle_of(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key, code, text=""):
        """A key, such as "Enter" with its code of Windows, and the text that it types."""
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def press_enter(self):
        self.press("Enter", 13, "\r")

    def move_to(self, selector):
        """Points at the first element that fits."""
        x, y = self._middle_of(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def count_sheets(self):
        """Sheets of A4 that the page is printed on."""
        answer = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(answer["data"])))

    def allow_clipboard(self):
        self._browser.call("Browser.grantPermissions",
                           permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])

    def screenshot(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(path).write_bytes(base64.b64decode(answer["data"]))
