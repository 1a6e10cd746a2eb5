# Each target sets up what it needs: Node (any version that brings npm), make and a POSIX shell are enough.

SHELL = /bin/sh

# npm leaves this file as the last act of an installation, so it is our stamp of a complete one.
installed = node_modules/.package-lock.json

# Everything runs on the Node of node_modules, whatever the machine's own is.
on_our_node = PATH="$(CURDIR)/node_modules/.bin:$(CURDIR)/.cache/tools:$$PATH"

help: ## List the targets
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1:\2/p' Makefile | while IFS=: read -r target what; do printf '%-16s %s\n' "$$target" "$$what"; done

demo: $(installed) kubectl ## Show kubectl top on a simulated cluster until Ctrl-C; ONCE=1 prints it once
	@$(on_our_node) node scripts/demo.ts $(if $(ONCE),--once)

demo-autoscaler: $(installed) kubectl ## Show Deployments of a simulated cluster follow a schedule, an HTTP queue and a gRPC scaler, in a minute
	@$(on_our_node) node scripts/demo-autoscaler.ts

test: $(installed) spec-binaries $(if $(CI),tools) ## Run every spec, TIMES=20 in a row; CI=1 first installs the programs that some specs need
	@$(on_our_node) TIMES='$(TIMES)' npm run -s test

bare: $(installed) spec-binaries ## Run the specs that need installed programs without these programs: each spec passes or is skipped
	@$(on_our_node) node scripts/run-bare.ts

acceptance: $(installed) spec-binaries ## Test manifests and programs on a real Kubernetes API server, which is built if it is missing
	@scripts/source-servers.sh
	@$(on_our_node) node scripts/control-plane.ts --within $(WITHIN)
	@$(on_our_node) node scripts/run-acceptance.ts

# How many seconds building an API server may take.
WITHIN = 1800

verify: $(installed) spec-binaries ## Check format, lint, types and regular expressions, and run every spec
	@$(on_our_node) npm run -s verify

update: $(installed) ## Format code, fix lint errors, and generate the tables of the reference
	@$(on_our_node) npm run -s update

bench: $(installed) kubectl ## Measure CPU and memory of the programs; ARGS='--help' lists scenarios
	@$(on_our_node) npm run -s build >&2
	@$(on_our_node) npm run -s bench -- $(ARGS)

accuracy: $(installed) ## Compare the values served in a simulated day with the true ones, and write docs/contributing/accuracy.md
	@$(on_our_node) npm run -s accuracy

fuzz: $(installed) ## Fuzz every parser of text from outside for TIME=10m; by default for a minute
	@$(on_our_node) node spec/reliability/fuzz/main.ts $(TIME)

soak: $(installed) ## Run a server for MINUTES=5 in a simulated cluster of NODES=30 with changes and faults, and write a report into FOLDER=.cache/soak
	@$(on_our_node) node spec/reliability/soak/main.ts $(MINUTES) $(NODES) $(FOLDER)

MINUTES = 5
NODES = 30
FOLDER = .cache/soak

mutants: $(installed) ## Mutate the code of DIR=lib/… (by default, of changed files), and list the mutants that no spec of SPECS detects; SAMPLE=100 selects 100 at random by SEED
	@$(on_our_node) node scripts/mutants/main.ts '$(DIR)' '$(SPECS)' '$(SAMPLE)' '$(SEED)'

build: $(installed) ## Bundle the server into dist/
	@$(on_our_node) npm run -s build

image: $(installed) ## Build the container image
	@$(on_our_node) scripts/image.sh

tools: ## Install promtool, Chromium and the servers that specs run from Debian's archive if they are missing; without them specs skip, or fail with CI set
	@scripts/spec-tools.sh
	@scripts/source-servers.sh

$(installed): package-lock.json
	npm ci --include=dev --no-audit --no-fund --loglevel=error

# The real one, for what runs the whole program: taken from PATH, or downloaded once.
kubectl: $(installed)
	@$(on_our_node) node scripts/kubectl.ts >/dev/null

# That, and Helm; a kubectl of PATH may be too old for some specs.
spec-binaries: $(installed)
	@$(on_our_node) node scripts/spec-binaries.ts

.PHONY: help demo demo-autoscaler test bare acceptance verify update bench fuzz soak accuracy mutants build image tools kubectl spec-binaries
