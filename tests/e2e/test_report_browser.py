"""The report in a real browser: it opens, it is quiet, it does what it says, and names cannot hurt it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from browser import Page, open_browser

import walltime
from walltime.analysis.charts.chart import Axis, Clock
from walltime.analysis.charts.ticks import find_ticks
from walltime.analysis.report.encode import encode_clock
from walltime.core.tables import OUTAGES
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

HOSTILE = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "https://example.invalid/pixel.png",
    "x" * 3000,
    "مستخدم",
    "\u202eevil",
    "👩‍🚀 rocket",
    "line\nbreak",
    "ann",
)


def jobs(count: int = 240, users: tuple[str, ...] = ("ann", "bo", "cy")) -> walltime.Workload:
    """A crowded machine; the same each time."""
    draw = random.Random(5)
    run = [draw.randint(30, 3000) for _ in range(count)]
    return walltime.Workload.from_columns(
        job_id=range(1001, 1001 + count),
        submit=[45 * i for i in range(count)],
        run_time=run,
        requested_time=[2 * length for length in run],
        cores=[draw.choice([1, 2, 4, 8, 12]) for _ in range(count)],
        user=[users[i % len(users)] for i in range(count)],
        queue=[("short", "long")[i % 2] for i in range(count)],
        recorded_wait=[draw.randint(0, 4000) for _ in range(count)],
    )


def disturb(result: walltime.Result) -> walltime.Result:
    """The same with its longest job interrupted, and with outages: one of them on cores that nothing ever uses."""
    record = result.record
    longest = int(record.jobs.sort("run_time")["job_id"][-1])
    mine = record.allocations.filter(pl.col("job_id") == longest)
    start, end = float(mine["start"][0]), float(mine["end"][0])
    first = mine.with_columns(end=pl.lit(start + 0.4 * (end - start)))
    second = mine.with_columns(start=pl.lit(start + 0.6 * (end - start)), attempt=pl.col("attempt") + 1)
    rest = record.allocations.filter(pl.col("job_id") != longest)
    rows = [
        ("cluster", 1000.0, 4000.0, "failure", HOSTILE[0], None, 4),
        ("cluster", 6000.0, 9000.0, "reservation", "course", None, 8),
    ]
    changed = replace(
        record,
        allocations=pl.concat([rest, first, second]).sort("start"),
        outages=pl.DataFrame(rows, schema=OUTAGES, orient="row"),
        facts=record.facts | {"clusters": {"cluster": 20}},
    )
    return walltime.Result(result.scenario, changed, "disturbed")


def site(backfill: str) -> walltime.Result:
    """Two clusters with fair shares, failures, maintenance, workflows, and urgent jobs that displace others."""
    work = jobs()
    queued = work.replace(
        dict(work.columns) | {"queue": (np.arange(len(work)) % 20 == 0).astype(np.int32)},
        labels=dict(work.labels) | {"queue": ["normal", "urgent"]},
    )
    tasks = [Task("first", 4, 900, 1200), Task("second", 8, 300, 600, ("first",))]
    mixed = add_workflows(queued, Mix([Workflow.of(HOSTILE[0], tasks)], "multi", every=900.0), 1)
    cluster = {
        "queues": {"urgent": {"priority": 1}, "normal": {"default": True}},
        "failures": [{"between": {"mean": 20_000.0}, "repair": 1500.0}],
        "reservations": [{"name": "update", "start": 5000, "length": 600}],
        "scheduler": {
            "order": {"name": "fairshare", "interval": 300},
            "backfill": backfill,
            "preempt": {"name": "queue", "mode": "requeue"},
        },
    }
    clusters = [{"name": "<b>north</b>", "nodes": "6x4", **cluster}, {"name": "south", "nodes": "4x2", **cluster}]
    return walltime.simulate({"workload": mixed, "clusters": clusters, "broker": "first", "seed": 3}, label=backfill)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from open_browser()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports: of one result, of two, and of one whose names are an attack."""
    place = tmp_path_factory.mktemp("reports")
    fcfs, easy = (walltime.simulate(jobs(), cores=16, policy=policy) for policy in ("fcfs", "easy"))
    easy.report(place / "one.html")
    fcfs.report(place / "two.html", easy)
    label = "<script>window.hacked=1</script>"
    attack = walltime.simulate(jobs(users=HOSTILE), cores=16, policy="easy", label=label)
    attack.report(place / "hostile.html", title="<b onclick=window.hacked=1>title</b>")
    disturb(easy).report(place / "disturbed.html")
    none, sited, keeping = (site(backfill) for backfill in ("none", "easy", "conservative"))
    none.report(place / "site.html", sited)
    first, *others = (
        walltime.Result(one.scenario, one.record, f"the site with {one.label} backfilling")
        for one in (none, sited, keeping)
    )
    first.report(place / "sites.html", *others)
    idle = [walltime.simulate(jobs(10, users=("ann",)), nodes="8x16", policy=policy) for policy in ("fcfs", "easy")]
    idle[0].report(place / "idle.html", idle[1])  # nobody waits: figures that are zero everywhere
    third = walltime.simulate(jobs(), cores=16, policy="conservative")
    fcfs.report(place / "three.html", easy, third)
    easy.plot.schedule(by="queue").save(place / "schedule.html")
    easy.plot.cdf(fcfs).save(place / "cdf.html")
    return place


@pytest.fixture
def opened(browser: Any, folder: Path) -> Iterator[Any]:
    """A function that opens one of the reports; complaints or requests of any page are a failure at the end."""
    pages = []

    def open_page(name: str, **options: Any) -> Page:
        pages.append(Page(browser, folder / name, **options))
        return pages[-1]

    yield open_page
    for page in pages:
        assert page.complaints == []
        assert [url for url in page.requests[1:] if not url.startswith(("data:", "blob:"))] == []
        page.close()


@pytest.mark.parametrize(
    "name", ["one.html", "two.html", "hostile.html", "disturbed.html", "site.html", "schedule.html", "cdf.html"]
)
def test_a_page_opens_without_a_complaint_or_a_request(opened: Any, name: str) -> None:
    page = opened(name)
    drawn = page.ask("() => document.querySelectorAll('svg.panel, canvas').length")
    assert drawn > (0 if name in ("schedule.html", "cdf.html") else 15)
    assert page.ask("() => window.hacked") is None


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        *(("two.html", width, scheme) for width in (1280, 400) for scheme in ("light", "dark")),
        ("idle.html", 1280, "dark"),
        ("idle.html", 400, "light"),
        ("hostile.html", 400, "dark"),
        ("disturbed.html", 400, "light"),
        ("site.html", 1280, "light"),
        ("site.html", 400, "dark"),
    ],
)
def test_nothing_is_wider_than_the_window_and_no_texts_touch(opened: Any, name: str, width: int, scheme: str) -> None:
    page = opened(name, width=width, scheme=scheme)
    assert page.ask("() => document.documentElement.scrollWidth") <= width
    touching = page.ask(
        """() => [...document.querySelectorAll('svg.panel')].flatMap(svg => {
            const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
            const frame = svg.getBoundingClientRect(), bad = [];
            texts.forEach(([a, p], i) => {
              if (p.left < frame.left - 1 || p.right > frame.right + 1) bad.push(`outside: ${a}`);
              texts.slice(i + 1).forEach(([b, q]) => {
                const x = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const y = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (x > 1 && y > 3) bad.push(`${a} | ${b}`);
              });
            });
            return bad;
        })"""
    )
    assert touching == []


def test_every_picture_has_a_title_and_words_at_its_axes(opened: Any) -> None:
    page = opened("one.html")
    lacking = page.ask(
        """() => [...document.querySelectorAll('figure')].filter(f => !f.querySelector('h3').textContent.trim()
            || [...f.querySelectorAll('svg.panel')].some(s => !s.querySelector('.axis-label')))
            .map(f => f.dataset.kind)"""
    )
    assert lacking == []


def centre(page: Page, job: int) -> tuple[float, float]:
    """The middle of the largest block of a job on the screen."""
    return tuple(
        page.ask(
            """(id) => { const g = walltime.viewer.gantt, p = g.plan, b = p.blocks, j = p.jobs.id.indexOf(id);
            const tall = i => b.high[i] - b.low[i];
            const mine = [...b.of.keys()].filter(i => b.of[i] === j).sort((x, y) => tall(y) - tall(x))[0];
            g.canvas.scrollIntoView({block: 'center'});
            const box = g.canvas.getBoundingClientRect();
            return [box.left + g.x((b.start[mine] + b.end[mine]) / 2),
                    box.top + g.y((b.low[mine] + b.high[mine]) / 2)]; }""",
            job,
        )
    )


def test_hover_tells_the_job(opened: Any, folder: Path) -> None:
    page = opened("one.html")
    result = walltime.simulate(jobs(), cores=16, policy="easy")
    row = result.jobs.sort("run_time").row(-1, named=True)
    page.tab.mouse.move(*centre(page, row["job_id"]))
    page.settle()
    text = page.ask("() => document.getElementById('tip').innerText")
    assert f"Job {row['job_id']}" in text
    assert row["user"] in text
    assert row["queue"] in text
    page.tab.mouse.move(2, 2)
    assert page.ask("() => document.getElementById('tip').hidden")


def point(page: Page, time: float, row: float) -> tuple[float, float]:
    """Where on the screen a time and a row are."""
    return tuple(
        page.ask(
            """([time, row]) => { const g = walltime.viewer.gantt; g.canvas.scrollIntoView({block: 'center'});
            const box = g.canvas.getBoundingClientRect(); return [box.left + g.x(time), box.top + g.y(row)]; }""",
            [time, row],
        )
    )


def test_outages_are_seen_and_told(opened: Any) -> None:
    page = opened("disturbed.html")
    assert page.tab.locator(".gantt .legend .outage").all_inner_texts() == ["failure", "reservation"]
    block = page.ask(
        """() => { const b = walltime.viewer.gantt.plan.outages.blocks;
        return [...b.of.keys()].map(i => [b.of[i], b.start[i], b.end[i], b.low[i], b.high[i]])[0]; }"""
    )
    page.tab.mouse.move(*point(page, (block[1] + block[2]) / 2, (block[3] + block[4]) / 2))
    page.settle()
    text = page.ask("() => document.getElementById('tip').innerText")
    assert "Failure" in text
    assert HOSTILE[0] in text  # as a text
    assert "50:00 min" in text
    colours = page.ask(
        """([left, right, low, high]) => { const g = walltime.viewer.gantt; g.draw(1);
        const [x, y] = [Math.ceil(g.x(left)) + 1, Math.ceil(g.y(high)) + 1];
        const data = g.pen.getImageData(x, y, Math.floor(g.x(right)) - x - 1, Math.floor(g.y(low)) - y - 1).data;
        return new Set(new Uint32Array(data.buffer)).size; }""",
        block[1:],
    )
    assert colours == 2  # hatched


def test_outages_are_read_by_a_key_and_saved(opened: Any, tmp_path: Path) -> None:
    page = opened("disturbed.html")
    page.tab.locator("canvas").focus()
    page.tab.keyboard.press("o")
    assert page.tab.locator(".status").inner_text().startswith("Failure")
    page.tab.keyboard.press("o")
    assert page.tab.locator(".status").inner_text().startswith("Reservation course, cores 8")
    seen = view(page)
    assert seen["left"] <= 6000 <= seen["right"]
    page.tab.keyboard.press("0")
    with page.tab.expect_download() as saving:
        page.tab.locator(".toolbar").get_by_label("Save as SVG").click()
    saving.value.save_as(tmp_path / "schedule.svg")
    assert "url(#reservation)" in (tmp_path / "schedule.svg").read_text()


def test_a_job_that_ran_twice_says_so(opened: Any) -> None:
    page = opened("disturbed.html")
    assert "interrupted and ran again" in page.tab.locator(".gantt").inner_text()
    job = page.ask(
        """() => { const { blocks, jobs } = walltime.viewer.gantt.plan;
        return jobs.id[blocks.of[blocks.cut.indexOf(1)]]; }"""
    )
    page.tab.get_by_label("Search a job or user").fill(str(job))
    page.tab.get_by_label("Search a job or user").press("Enter")
    assert "ran 2 times" in page.tab.locator(".status").inner_text()
    block = page.ask(
        """() => { const b = walltime.viewer.gantt.plan.blocks, i = b.cut.indexOf(1);
        return [(b.start[i] + b.end[i]) / 2, (b.low[i] + b.high[i]) / 2]; }"""
    )
    page.tab.mouse.move(*point(page, *block))
    page.settle()
    assert "1 of 2 times" in page.ask("() => document.getElementById('tip').innerText")


def test_hover_on_a_chart_tells_its_values(opened: Any) -> None:
    page = opened("two.html")
    chart = page.tab.locator("figure[data-kind=utilization] svg.panel")
    chart.scroll_into_view_if_needed()
    chart.hover()
    text = page.ask("() => document.getElementById('tip').innerText")
    assert "fcfs" in text
    assert "easy" in text
    assert "%" in text


def view(page: Page) -> dict[str, float]:
    page.settle()
    return dict(page.ask("() => ({...walltime.viewer.gantt.view})"))


def test_zoom_by_wheel_keeps_the_place_under_the_pointer(opened: Any) -> None:
    page = opened("one.html")
    x, y = centre(page, 1100)
    before = view(page)
    page.tab.mouse.move(x, y)
    page.tab.mouse.wheel(0, 300)  # nobody asked for a zoom: the page scrolls
    assert view(page) == before
    x, y = centre(page, 1100)
    page.tab.mouse.click(x, y)
    page.tab.mouse.wheel(0, -300)
    after = view(page)
    assert after["right"] - after["left"] < 0.8 * (before["right"] - before["left"])
    there = page.ask("(x) => walltime.viewer.gantt.time(x - walltime.viewer.canvas.getBoundingClientRect().left)", x)
    job = page.ask(
        """() => { const jobs = walltime.viewer.gantt.plan.jobs, j = jobs.id.indexOf(1100);
        return [jobs.start[j], jobs.end[j]]; }"""
    )
    assert job[0] < there < job[1]


def test_dragging_moves_what_is_seen_and_all_shows_everything(opened: Any) -> None:
    page = opened("one.html")
    page.tab.get_by_role("button", name="Zoom in").click()
    before = view(page)
    page.tab.locator("canvas").scroll_into_view_if_needed()
    box = page.tab.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x - 200, y)
    page.tab.mouse.up()
    after = view(page)
    assert after["left"] > before["left"]
    assert after["right"] - after["left"] == pytest.approx(before["right"] - before["left"])
    page.tab.get_by_role("button", name="Show all").click()
    extent = page.ask("() => ({...walltime.viewer.gantt.extent})")
    assert view(page) == extent


def test_a_job_has_the_name_of_its_log(browser: Any, tmp_path: Path) -> None:
    """A task of an array has no number in a log of sacct but its name: the one that it was given here is nobody's."""
    work = jobs()
    names = [f"4133208_{number}" if number % 2 else "" for number in range(len(work))]
    walltime.simulate(work.replace(dict(work.columns) | {"name": names}), cores=16).report(tmp_path / "named.html")
    page = Page(browser, tmp_path / "named.html")
    for wanted, shown in (("4133208_41", "Job 4133208_41,"), ("1042", "Job 4133208_41,"), ("1041", "Job 1041,")):
        box = page.tab.get_by_label("Search a job or user")
        box.fill(wanted)
        box.press("Enter")
        page.settle()
        assert shown in page.tab.locator(".status").inner_text()
    assert page.complaints == []
    page.close()


def test_search_finds_a_job_and_a_user(opened: Any) -> None:
    page = opened("one.html")
    box = page.tab.get_by_label("Search a job or user")
    box.fill("1042")
    assert "1 job found" in page.tab.locator(".status").inner_text()
    box.press("Enter")
    page.settle()
    assert "Job 1042" in page.tab.locator(".status").inner_text()
    seen, start = (
        view(page),
        page.ask("() => { const p = walltime.viewer.gantt.plan; return p.jobs.start[p.jobs.id.indexOf(1042)]; }"),
    )
    assert seen["left"] <= start <= seen["right"]
    box.fill("bo")
    assert "80 jobs found" in page.tab.locator(".status").inner_text()
    users = page.ask(
        """() => { const { matches, plan } = walltime.viewer.gantt, user = plan.jobs.labels.user;
        return [...new Set([...matches].map(j => user.names[user.codes[j]]))]; }"""
    )
    assert users == ["bo"]
    box.fill("b")  # a part of a name
    assert "80 jobs found" in page.tab.locator(".status").inner_text()
    box.fill("nobody of that name")
    assert "nothing found" in page.tab.locator(".status").inner_text()
    box.press("Escape")
    assert page.ask("() => walltime.viewer.gantt.matches") is None


def test_the_keyboard_alone_suffices(opened: Any) -> None:
    page = opened("two.html")
    keys = page.tab.keyboard
    for _ in range(200):  # on foot to the schedule
        keys.press("Tab")
        if page.ask("() => document.activeElement.tagName") == "CANVAS":
            break
    else:
        pytest.fail("the schedule cannot be reached by Tab")
    before = view(page)
    keys.press("+")
    zoomed = view(page)
    assert zoomed["right"] - zoomed["left"] == pytest.approx((before["right"] - before["left"]) / 2)
    keys.press("ArrowRight")
    assert view(page)["left"] > zoomed["left"]
    keys.press("]")
    assert view(page)["high"] - view(page)["low"] == pytest.approx((before["high"] - before["low"]) / 2)
    keys.press("n")
    first = page.tab.locator(".status").inner_text()
    assert first.startswith("Job 1")
    keys.press("n")
    assert page.tab.locator(".status").inner_text() != first
    keys.press("0")
    assert view(page) == before
    keys.press("/")
    keys.type("1042")
    keys.press("Enter")
    assert "Job 1042" in page.tab.locator(".status").inner_text()
    keys.press("Tab")  # and on: nothing holds the keyboard
    assert page.ask("() => document.activeElement.tagName") == "BUTTON"


def test_charts_are_read_by_arrow_keys(opened: Any) -> None:
    page = opened("one.html")
    page.tab.locator("figure[data-kind=boxes] svg.panel").first.focus()
    page.tab.keyboard.press("ArrowDown")
    assert "median" in page.ask("() => document.getElementById('live').textContent")


def test_colours_and_classes_can_be_chosen(opened: Any) -> None:
    page = opened("two.html")
    page.tab.get_by_label("Colour").select_option("queue")
    names = page.tab.locator(".gantt .legend li:visible").all_inner_texts()
    assert sorted(names) == ["long", "short"]
    page.tab.locator(".gantt .legend button", has_text="short").click()
    assert page.ask("() => walltime.viewer.gantt.only") is not None
    page.tab.get_by_label("Result").select_option("1")
    page.tab.get_by_label("Colour").select_option("change")
    assert any(
        "earlier" in name or "later" in name for name in page.tab.locator(".gantt .legend li:visible").all_inner_texts()
    )


def test_another_theme_changes_the_colours_of_everything(opened: Any) -> None:
    page = opened("one.html", scheme="light")
    look = (
        "() => [getComputedStyle(document.documentElement).backgroundColor, walltime.viewer.gantt.colouring.colours[0]]"
    )
    light = page.ask(look)
    page.tab.locator("#theme").click()
    dark = page.ask(look)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    assert opened("one.html", scheme="dark").ask(look) == dark


def test_a_large_map_is_an_image_in_the_colours_of_the_theme(opened: Any) -> None:
    page = opened("site.html", scheme="light")
    look = "() => document.querySelector('figure[data-kind=failures] svg image').getAttribute('href')"
    light = page.ask(look)
    assert light.startswith("data:image/png")
    page.tab.locator("#theme").click()
    assert page.ask(look) != light


def test_all_that_a_site_has_is_shown(opened: Any) -> None:
    page = opened("site.html")
    kinds = page.ask("() => [...document.querySelectorAll('figure[data-kind]')].map(figure => figure.dataset.kind)")
    assert {"fairshare", "failures", "workflows", "utilization", "winners"} <= set(kinds)
    assert kinds.count("fairshare") == 2
    words = page.ask("() => document.getElementById('figures').innerText")
    assert "Jobs interrupted by failures" in words
    assert "Jobs displaced by others" in words
    assert "Core-hours lost" in words
    legend = page.tab.locator(".gantt .legend li:visible").all_inner_texts()
    assert {"ann", "bo", "cy", "none", "failure", "maintenance"} == set(legend)
    drawn = "() => { const names = []; walltime.viewer.gantt.nameBands(text => names.push(text)); return names; }"
    assert page.ask(drawn) == ["<b>north</b>", "south"]
    page.tab.get_by_label("Colour").select_option("size")
    seen = page.tab.locator(".gantt .legend li:visible").all_inner_texts()
    assert "512+ cores" not in seen  # there are none


@pytest.mark.parametrize("name", ["Save as PNG", "Save as SVG"])
def test_the_schedule_is_saved_as_a_picture(opened: Any, name: str, tmp_path: Path) -> None:
    page = opened("one.html")
    with page.tab.expect_download() as saving:
        page.tab.locator(".toolbar").get_by_label(name).click()
    target = tmp_path / saving.value.suggested_filename
    saving.value.save_as(target)
    data = target.read_bytes()
    if name.endswith("PNG"):
        assert data.startswith(b"\x89PNG")
    else:
        assert target.suffix == ".svg"
        assert data.count(b"M") > 200
        legend = page.tab.locator(".gantt .legend li:visible").all_inner_texts()
        assert legend
        assert all(f">{name}</text>".encode() in data for name in legend)


@pytest.mark.parametrize("format", ["PNG", "SVG"])
def test_a_chart_is_saved_as_a_picture(opened: Any, format: str, tmp_path: Path) -> None:
    page = opened("hostile.html")
    with page.tab.expect_download() as saving:
        page.tab.locator("figure[data-kind=slowdown-map] .save button", has_text=format).click(force=True)
    saving.value.save_as(tmp_path / "chart")
    data = (tmp_path / "chart").read_bytes()
    assert data.startswith(b"\x89PNG" if format == "PNG" else b"<svg")
    assert b"var(" not in data
    assert b"color-mix" not in data


def test_tables_are_sorted_and_searched(opened: Any) -> None:
    page = opened("two.html")
    table = page.tab.locator("#tables details", has_text="By user")
    table.get_by_role("button", name="jobs").click()
    table.get_by_role("button", name="jobs").click()
    counts = [int(text.replace(",", "")) for text in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts)
    assert table.locator("th[aria-sort=ascending]").count() == 1


def test_it_prints(opened: Any) -> None:
    page = opened("two.html", scheme="dark")
    page.tab.set_viewport_size({"width": 750, "height": 1000})
    page.tab.emulate_media(media="print", color_scheme="dark")
    page.settle()
    assert page.ask("() => getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.tab.locator(".toolbar").is_visible()
    assert page.ask("() => document.documentElement.scrollWidth") <= 750
    ground = page.ask("() => [...document.querySelector('canvas').getContext('2d').getImageData(2, 2, 1, 1).data]")
    assert ground == [255, 255, 255, 255]
    paper = page.tab.pdf(format="A4")
    assert paper.startswith(b"%PDF")


def test_ticks_are_those_of_the_pictures(opened: Any) -> None:
    page = opened("cdf.html")
    cases = []
    ranges = [
        (0, 1),
        (0, 0.04),
        (0, 97),
        (1, 86_400),
        (0, 3e6),
        (-5e5, 2e5),
        (12, 13),
        (1, 3.5e7),
        (0, 250),
        (2e5, 2e5 + 300),
        (0.9, 8.9),
        (1, 300),
        (3, 7),
        (0, 4.8e8),
        (4e5, 3e6),
        (4e5, 9e6),
    ]
    for kind, log, (low, high), count in itertools.product(
        ("number", "count", "share", "duration", "time"), (False, True), ranges, (2, 5, 9)
    ):
        if not (log and (kind in ("time", "share") or low <= 0)):
            cases.append((kind, log, low, high, count))
    clocks = [
        Clock(),
        Clock(1_234_567_890.0, "UTC"),
        Clock(1_234_567_890.0, "CET", ((100.0, 1_234_571_490.0, "CEST"),)),
    ]
    clocks.append(Clock.of({"epoch": 1_792_792_800.0, "timezone": "Europe/Prague"}, 0.0, 3.5e7))
    for clock, (kind, log, low, high, count) in itertools.product(clocks, cases):
        if clock.shift is not None and kind != "time":
            continue
        expected = find_ticks(Axis("", kind, log), low, high, count, clock)
        found = page.ask(
            "([axis, low, high, count, clock]) => walltime.Ticks.find(axis, low, high, count, clock)",
            [{"kind": kind, "log": log}, low, high, count, encode_clock(clock)],
        )
        assert [text for _, text in found] == [text for _, text in expected], (kind, log, low, high, count, clock)
        assert [value for value, _ in found] == pytest.approx([value for value, _ in expected])


@pytest.mark.parametrize("width", [1400, 1000])
def test_tables_by_group_of_three_results_fit_the_window(opened: Any, width: int) -> None:
    """Neither a table has to be scrolled nor the page; labels are long."""
    page = opened("sites.html", width=width)
    assert page.ask("() => document.documentElement.scrollWidth") <= width
    page.ask("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.settle()
    assert page.ask("() => document.documentElement.scrollWidth") <= width
    tables = page.ask(
        """() => [...document.querySelectorAll('table.groups')].filter(one => one.offsetWidth).map(one =>
            [one.querySelector('th').textContent, one.closest('.scroll').clientWidth, one.offsetWidth])"""
    )
    assert {"queue", "user"} <= {name for name, _, _ in tables}
    assert [name for name, room, taken in tables if taken > room] == []
    first = page.ask("() => [...document.querySelector('#partitions tbody').rows].map(row => row.cells.length)")
    assert len(first) == 3
    assert first[0] == first[1] + 2 == first[2] + 2  # its name and its jobs are told once


def test_three_results_at_first_sight_with_contents_that_stay_in_view(opened: Any) -> None:
    page = opened("three.html", folded=True)
    assert page.ask("() => document.documentElement.scrollHeight") < 6000
    assert page.ask("() => document.querySelector('h1').textContent") == "fcfs · easy · conservative"
    drawn = "() => document.querySelectorAll('#over figure svg.panel').length"
    assert page.ask(drawn) == 0
    assert page.ask("() => document.querySelectorAll('#time figure[data-kind=waits] svg.panel').length") == 1
    page.tab.locator("nav.contents a[href='#over']").click()
    page.settle()
    assert page.ask(drawn) > 0  # it is opened, and drawn
    page.ask("() => window.scrollTo(0, document.documentElement.scrollHeight)")
    page.settle()
    assert page.ask("() => document.querySelector('nav.contents').getBoundingClientRect().top") == 0
    links = page.ask("() => [...document.querySelectorAll('nav.contents a')].map(a => a.getAttribute('href').slice(1))")
    assert all(page.ask(f"() => document.getElementById('{place}') !== null") for place in links)
