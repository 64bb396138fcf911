"""A real JupyterLab (and Notebook 7) on the loopback interface, with a home, settings and folders of its own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Collection
from pathlib import Path

import nbformat


SETTINGS = {
    # The notebook holds all its cells in the page, so that a test may look at every one without scrolling.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


class Server:
    def __init__(self, folder: Path) -> None:
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir()
        self._settings = folder / "settings"
        self._log = folder / "server.log"
        self.url = f"http://127.0.0.1:{_free_port()}"
        home = folder / "home"
        home.mkdir()
        environment = os.environ | {
            "HOME": str(home),
            "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTER_PREFER_ENV_PATH": "1",
            "JUPYTERLAB_SETTINGS_DIR": str(self._settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        }
        options = {
            "ServerApp.ip": "127.0.0.1",
            "ServerApp.port": self.url.rpartition(":")[2],
            "ServerApp.port_retries": "0",
            "ServerApp.root_dir": str(self.notebooks),
            "ServerApp.disable_check_xsrf": "True",
            "ServerApp.terminals_enabled": "False",
            "IdentityProvider.token": "",
            "JupyterNotebookApp.expose_app_in_browser": "True",
            "LabApp.news_url": "",
            "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "LabApp.extension_manager": "readonly",
        }
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
        command += [f"--{name}={value}" for name, value in options.items()]
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        self._wait_until_it_answers(seconds=60)

    def stop(self) -> None:
        self.delete_kernels()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget_settings(self) -> None:
        """What an earlier test left, as the theme."""
        for name, settings in SETTINGS.items():
            path = self._settings / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(settings))
        (self._settings / "@jupyterlab/apputils-extension/themes.jupyterlab-settings").unlink(missing_ok=True)

    def running(self) -> set[str]:
        """The sessions and kernels that there are."""
        return {item["id"] for kind in ("sessions", "kernels") for item in self._request("GET", f"/api/{kind}")}

    def delete_kernels(self, kept: Collection[str] = ()) -> None:
        for kind in ("sessions", "kernels"):
            for item in self._request("GET", f"/api/{kind}"):
                if item["id"] not in kept:
                    self._request("DELETE", f"/api/{kind}/{item['id']}")

    def write(self, name: str, cells: list[str]) -> None:
        """A notebook of code cells, saved where the server finds it."""
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(cells)],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        )
        nbformat.write(notebook, self.notebooks / name)

    def log(self) -> str:
        return self._log.read_text()[-4000:]

    def _request(self, method: str, path: str) -> list[dict]:
        request = urllib.request.Request(self.url + path, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read() or b"[]")
        except urllib.error.HTTPError as error:
            if error.code == 404 and method == "DELETE":  # the kernel went with its session
                return []
            raise

    def _wait_until_it_answers(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._process.poll() is None:
            try:
                self._request("GET", "/api/status")
                return
            except OSError:
                time.sleep(0.1)
        self._process.kill()
        raise RuntimeError(f"JupyterLab did not answer within {seconds:.0f} s:\n{self.log()}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
