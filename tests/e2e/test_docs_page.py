"""/docs in a real browser without internet: a memory is found, corrected and deleted by hand."""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from app.composition import Services
from tests.conftest import Tenant, tenant_of

PATIENCE = 30

pytestmark = pytest.mark.skipif(
    shutil.which("chromedriver") is None and not os.environ.get("CI"),  # noqa: TID251 - CI must never skip
    reason="needs Debian's packages chromium and chromium-driver",
)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """Headless Chromium that reaches this machine and nothing else."""
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={tmp_path}/profile",
        "--window-size=1400,2000",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


class Page:
    """The page as a person sees it."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self._driver = driver
        driver.get(f"{url}/docs")
        self._one(".swagger-ui .opblock")

    def authorize(self, key: str) -> None:
        """Press Authorize and enter a key."""
        self._click(".btn.authorize")
        box = self._one("#auth-bearer-value")
        box.send_keys(key)
        self._click(".auth-container:has(#auth-bearer-value) .btn.authorize")
        self._click(".btn-done")

    def run(
        self, tag: str, operation: str, *, body: dict[str, Any] | None = None, **parameters: str
    ) -> tuple[int, str]:
        """Open an operation, fill it in, press Execute; the status and the body that the page shows."""
        block = f"#operations-{tag}-{operation}"
        if not self._driver.find_elements(By.CSS_SELECTOR, f"{block}.is-open"):
            self._click(f"{block} .opblock-summary-control")
        for name, value in parameters.items():
            box = self._one(f"{block} tr[data-param-name='{name}'] input")
            self._fill(box, value)
        if body is not None:
            box = self._one(f"{block} textarea.body-param__text")
            self._fill(box, json.dumps(body))
        self._click(f"{block} .btn.execute")
        shown = self._one(f"{block} .live-responses-table tbody .response-col_status")
        status = int(shown.text.split()[0])
        texts = self._driver.find_elements(
            By.CSS_SELECTOR, f"{block} .live-responses-table tbody .response-col_description"
        )
        return status, texts[0].text

    def foreign_requests(self, url: str) -> list[str]:
        """What the page asked of anybody but us."""
        lines = [json.loads(entry["message"])["message"] for entry in self._driver.get_log("performance")]
        asked = [line["params"]["request"]["url"] for line in lines if line["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith((url, "data:", "blob:", "chrome"))]

    def _one(self, selector: str) -> WebElement:
        return WebDriverWait(self._driver, PATIENCE).until(
            lambda driver: next((e for e in driver.find_elements(By.CSS_SELECTOR, selector) if e.is_displayed()), False)
        )

    @staticmethod
    def _fill(box: WebElement, text: str) -> None:
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(text, Keys.TAB)  # the page takes a value over when its box is left

    def _click(self, selector: str) -> None:
        element = self._one(selector)
        self._driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", element)


@pytest.mark.timeout(300)
async def test_an_admin_finds_corrects_and_deletes_a_memory_on_the_page(
    browser: webdriver.Chrome, live: str, services: Services, app: object, full_size: bool
) -> None:
    if not full_size:
        pytest.skip("the page has some seventy operations, each drawn by the browser: make soak")
    tenant: Tenant = await tenant_of(services, app)
    api = await tenant.client()
    memory = (await api.post("/v1/memories", json={"text": "艾达喜欢喝茶。", "user_id": "ada"})).json()
    page = await asyncio.to_thread(_work_on, browser, live, await tenant.key("admin"), memory["id"])
    assert (await api.get(f"/v1/memories/{memory['id']}")).status_code == 404
    assert page.foreign_requests(live) == []
    await tenant.close()


def _work_on(browser: webdriver.Chrome, url: str, key: str, memory_id: str) -> Page:
    """What an admin does who never saw the code."""
    page = Page(browser, url)
    assert page.run("Memories", "list_memories")[0] == 401
    page.authorize(key)
    status, shown = page.run("Memories", "search_memories", body={"query": "茶", "user_id": "ada"})
    assert (status, "艾达喜欢喝茶" in shown, memory_id in shown) == (200, True, True)
    status, shown = page.run("Memories", "change_memory", body={"importance": 9}, memory_id=memory_id)
    assert (status, '"importance": 9' in shown) == (200, True), shown
    assert page.run("Memories", "delete_memory", memory_id=memory_id)[0] == 204
    return page
