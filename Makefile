# Every target does its own set-up; the second time that takes about a second.
PY := .venv/bin/python
export PYTHONDONTWRITEBYTECODE :=
TEST := $(PY) -m pytest -n 2 --dist worksteal
COMPILED := tests/unit/kernel tests/unit/engine tests/unit/policy tests/unit/policies
.PHONY: help demo test test-base test-services longest lint build develop checked browser releases recipes database dask solver simgrid wheels guards pictures validation bench soak clean
help:
	@echo "make demo    set up, build, and show a first comparison of policies"
	@echo "make develop   set up all that tests and checks need"
	@echo "make test    set up, build, and run every check: lint, types, imports, tests (fast build; then the core, in the checked build)"
	@echo "make test-services   the tests that need a browser, Slurm's controller, a database, SimGrid or a wheel"
	@echo "make test-base   the tests as if no extra were installed"
	@echo "make longest   the 20 longest tests and documents of the last make test, in CPU time, into tests/LONGEST.md"
	@echo "make lint    ruff, mypy and the import direction only"
	@echo "make guards REASON='...'   remake the digests of guarded schedules and the contract; says what changed"
	@echo "make pictures   remake every picture of the documents"
	@echo "make validation   remake the page of the validation against queueing theory"
	@echo "make bench   speed and scaling, in CPU time"
	@echo "make soak    2,000 mixtures of all features, 100,000 cases of engine and twin, 4,000 cases of conservative backfilling, a million files, scenarios and policies made wrong, 1,000 faults of sweeps, with the seed of the day; the honesty of verdicts (hours)"
	@echo "make wheels  an sdist, and wheels for the Pythons of this machine and for all others, into dist"
	@echo "make clean   remove everything that was built or installed here"
demo: build
	@.venv/bin/walltime demo
# Lint and the checked build have what the fast half leaves of two cores: its last tests, processes that wait, mypy.
test: export WALLTIME_TESTS := 1
test: develop recipes
	@rm -f build/cpu-*.txt
	@nice -n 19 make --no-print-directory lint checked >build/beside.txt 2>&1 & beside=$$!; \
	trap 'kill $$beside 2>/dev/null' EXIT; \
	echo "walltime: the fast build; beside it lint and the checked build, whose output follows"; \
	$(TEST) --cpu build/cpu-fast.txt -m "not service" --ignore tests/property --ignore tests/unit/policy/test_conformance.py tests; fast=$$?; \
	wait $$beside; lint=$$?; trap - EXIT; cat build/beside.txt; [ $$fast = 0 ] && [ $$lint = 0 ]
	PYTHONPATH=$(CURDIR)/build/checked/lib $(TEST) --cpu build/cpu-checked.txt -m "not service" --ignore tests/oracle/test_schedules.py $(COMPILED) tests/property tests/oracle tests/guards
test-services: develop checked browser releases database dask solver simgrid
	$(TEST) -m service tests
	PYTHONPATH=$(CURDIR)/build/checked/lib $(TEST) -m service tests/unit
test-base: develop
	PYTHONPATH=tests $(TEST) -p no_extras -m "not service" tests
longest: build/cpu-fast.txt build/cpu-checked.txt
	$(PY) tests/longest.py $^
lint: develop
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
build: .venv/.installed
	@$(PY) setup.py -q build_ext --inplace
develop: build .venv/.developing
checked: build
	@echo "building the checked core (bounds checks on)"
	@WALLTIME_CHECKED=1 $(PY) setup.py -q build --build-base build/checked --build-lib build/checked/lib
browser:
	@tools/bootstrap browser
releases: develop
	@tools/bootstrap releases
recipes: develop
	@tools/bootstrap recipes
database: develop
	@tools/bootstrap database
dask: develop
	@tools/bootstrap dask
solver: develop
	@tools/bootstrap solver
simgrid: develop
	@tools/bootstrap simgrid
wheels: build
	@$(PY) tools/wheels.py
guards: develop
	@$(PY) tests/guards/regenerate.py --reason "$(REASON)"
pictures: develop validation
	$(PY) tools/pictures.py
	$(PY) examples/workstations.py docs/pictures/workstations.png
	$(PY) examples/fairness_study/study.py docs/pictures/fairness-study.png
validation: develop
	$(PY) tools/validation.py
bench: develop
	$(PY) -m benchmarks
soak: develop
	nice -n 19 $(PY) tests/property/soak_mixtures.py
	nice -n 19 $(PY) tests/property/soak_twins.py
	nice -n 19 $(PY) tests/property/soak_moves.py
	nice -n 19 $(PY) tests/property/soak_moves.py --scenarios
	nice -n 19 $(PY) tests/fuzz/soak.py $(SOAK)
	nice -n 19 $(PY) tests/faults/soak_sweeps.py $(FAULTS)
	nice -n 19 $(PY) tests/validation/soak_verdicts.py
clean:
	rm -rf .venv build src/*.egg-info src/walltime/_cyutility.c .pytest_cache .hypothesis .ruff_cache .mypy_cache .import_linter_cache
	find src \( -name '*.so' -o -name '*.part' \) -delete
build/cpu-fast.txt build/cpu-checked.txt:
	@echo "run \`make test\` first: it notes what each test takes" >&2; exit 2
.venv/.installed: pyproject.toml tools/bootstrap tools/installed.py
	@tools/bootstrap
	@touch $@
.venv/.developing: .venv/.installed | build
	@tools/bootstrap dev
	@touch $@
