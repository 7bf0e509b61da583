"""`walltime workload fit`, `generate`, `compare` and `anonymise`, run as a user would."""

import json
import re

import pytest
from typer.testing import CliRunner

import walltime
from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.workload.formats import read, write
from walltime.workload.generate import generate


@pytest.fixture
def trace(tmp_path):
    write(generate(1500, 64, 0.8, seed=1), tmp_path / "t.swf")
    return tmp_path / "t.swf"


def run(*arguments):
    result = CliRunner().invoke(app, ["workload", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*arguments):
    result = CliRunner().invoke(app, ["workload", *map(str, arguments)])
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def test_from_a_log_to_a_year(trace, tmp_path):
    model, out, page = tmp_path / "m.json", tmp_path / "g.parquet", tmp_path / "p.html"
    assert "1,500 jobs" in run("fit", trace, "-o", model)
    text = run(
        "generate", model, "--cores", 64, "--days", 20, "--load", 0.9, "--seed", "two", "--fill", "6h", "-o", out
    )
    for words in ("offered load: ", "fill", "job pressure between"):
        assert words in text
    assert float(re.search(r"experiment (\S+)%", text)[1]) == pytest.approx(90, abs=0.6)
    assert read(out).label_names("phase") == ["fill", "stabilization", "experiment"]
    table = run("compare", trace, model, "--page", page)
    for words in ("KS", "requested time", "rank correlation cores × run time", "hour of the week", str(page)):
        assert words in table.replace("\n", "") or words in table
    assert page.exists()
    data = json.loads(run("compare", trace, out, "--json"))
    assert data["variables"]["cores"]["ks"] < 0.1
    facts = json.loads(run("generate", model, "--cores", 64, "--days", 2, "-o", tmp_path / "h.csv", "--json"))
    assert facts["jobs"] == len(read(tmp_path / "h.csv"))


def test_a_published_model(tmp_path):
    run("generate", "lublin-mixed", "--cores", 128, "--days", 3, "--load", 0.7, "-o", tmp_path / "l.swf")
    jobs = read(tmp_path / "l.swf")
    assert jobs.machine_cores == 128
    assert (jobs.column("requested_time") >= jobs.column("run_time")).all()


def test_anonymise(trace, tmp_path):
    assert "without names" in run("anonymise", trace, tmp_path / "a.swf", "--seed", 3)
    assert len(read(tmp_path / "a.swf")) == 1500


@pytest.mark.parametrize("command", ["anonymise", "convert"])
def test_what_is_not_written_is_told(tmp_path, command):
    record = "{} 0 -1 {} 2 -1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    (tmp_path / "log.swf").write_text(record.format(1, 50) + record.format(2, 0))
    arguments = ["workload", command, str(tmp_path / "log.swf"), str(tmp_path / "out.swf")]
    told = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "1 jobs written" in told.output
    assert "1 record skipped: run time unknown or zero" in told.output


def test_a_foreign_table(tmp_path):
    (tmp_path / "site.csv").write_text("sub,mins,n\n2024-03-01 10:00:00,5,2\n2024-03-01 11:00:00,10,4\n")
    maps = ["--map", "submit=sub", "--map", "run_time=mins:min", "--map", "cores=n"]
    facts = json.loads(run("info", tmp_path / "site.csv", *maps, "--timezone", "Europe/Berlin", "--json"))
    assert facts["run_time"]["max"] == 600
    assert facts["first_submission"] == "2024-03-01T10:00:00+01:00"
    run("convert", tmp_path / "site.csv", tmp_path / "site.swf", *maps)
    assert read(tmp_path / "site.swf").column("cores").tolist() == [2, 4]


def test_what_is_given_wrong_is_told_and_nothing_is_written(trace, tmp_path):
    before = set(tmp_path.iterdir())
    out = tmp_path / "o.parquet"
    assert ".json" in refused("fit", trace, "-o", tmp_path / "m.txt")
    assert "request_bin" in refused("fit", trace, "-o", tmp_path / "m.json", "--request-bin", 0)
    assert "did you mean 'lublin'" in refused("generate", "lublinn", "--cores", 4, "--days", 1, "-o", out)
    assert "no such file" in refused("generate", tmp_path / "gone.json", "--cores", 4, "--days", 1, "-o", out)
    assert "load" in refused("generate", "lublin", "--cores", 4, "--days", 1, "--load", -1, "-o", out)
    assert "published" in refused("generate", "lublin", "--cores", 4, "--days", 1, "--bins", "low", "-o", out)
    assert "suffix" in refused("generate", "lublin", "--cores", 4, "--days", 1, "-o", tmp_path / "o.doc")
    assert "html" in refused("compare", trace, trace, "--page", tmp_path / "p.gif")
    assert "time zone" in refused("info", trace, "--timezone", "Europe/Berlin")
    assert "unknown workload format" in refused("info", trace, "--input-format", "slurm")
    assert set(tmp_path.iterdir()) == before


def test_an_existing_file_is_kept(trace, tmp_path):
    model = tmp_path / "m.json"
    model.write_text("precious")
    assert "--force" in refused("fit", trace, "-o", model)
    assert model.read_text() == "precious"
    run("fit", trace, "-o", model, "--force")
    assert json.loads(model.read_text())["walltime_model"] == 1


def test_a_run_of_the_file_ends_with_the_drain(tmp_path):
    """Nothing is submitted in the drain, and it is all there."""
    out = tmp_path / "jobs.parquet"
    said = run("generate", "lublin", "--cores", 32, "--days", 2, "--load", 0.7, "--drain", "6h", "-o", out)
    found = re.search(r"a run ends with the drain, at (\d+) s", said)
    assert found is not None
    until = float(found[1])
    jobs = read(out)
    begin, end = jobs.notes["phases"]["drain"]
    assert end == pytest.approx(until, abs=1)
    assert end - begin == 6 * 3600
    assert float(jobs.column("submit").max()) / 1e6 <= begin
    result = walltime.simulate(out)
    assert result.scenario.until == end
    assert float(result.jobs["end"].max()) <= until
    assert "a run ends" not in run("generate", "lublin", "--cores", 32, "--days", 1, "-o", tmp_path / "other.parquet")
