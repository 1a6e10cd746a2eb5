# You need Node (any version with npm), make and a POSIX shell. Each target installs what else it needs.

SHELL = /bin/sh

# npm writes this file last, so it exists only after a complete installation.
installed = node_modules/.package-lock.json

# All targets run on the Node of node_modules, not on that of the machine.
on_our_node = PATH="$(CURDIR)/node_modules/.bin:$(CURDIR)/.cache/tools:$$PATH"

help: ## List the targets
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1:\2/p' Makefile | while IFS=: read -r target what; do printf '%-16s %s\n' "$$target" "$$what"; done

demo: $(installed) kubectl ## Show kubectl top on a simulated cluster until Ctrl-C; ONCE=1 prints it once
	@$(on_our_node) node scripts/demo.ts $(if $(ONCE),--once)

demo-autoscaler: $(installed) kubectl ## Scale Deployments of a simulated cluster by a schedule, an HTTP queue and a gRPC scaler, for a minute
	@$(on_our_node) node scripts/demo-autoscaler.ts

test: $(installed) spec-binaries $(if $(CI),tools) ## Run every spec; TIMES=20 runs them twenty times, CI=1 first installs the programs that some specs need
	@$(on_our_node) TIMES='$(TIMES)' npm run -s test

bare: $(installed) spec-binaries ## Run the specs that need installed programs, on a PATH without these programs: each spec passes or is skipped
	@$(on_our_node) node scripts/run-bare.ts

acceptance: $(installed) spec-binaries ## Test manifests and programs on a real Kubernetes API server, which is built first if it is missing
	@scripts/source-servers.sh
	@$(on_our_node) node scripts/control-plane.ts --within $(WITHIN)
	@$(on_our_node) node scripts/run-acceptance.ts

# Timeout for building the API server, in seconds.
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

fuzz: $(installed) ## Fuzz every parser of foreign text for a minute, or for TIME=10m
	@$(on_our_node) node spec/reliability/fuzz/main.ts $(TIME)

soak: $(installed) ## Run a server for MINUTES=5 in a simulated cluster of NODES=30 with changes and faults, and write a report to FOLDER=.cache/soak
	@$(on_our_node) node spec/reliability/soak/main.ts $(MINUTES) $(NODES) $(FOLDER)

MINUTES = 5
NODES = 30
FOLDER = .cache/soak

mutants: $(installed) ## Mutate the code of DIR=lib/… (by default, of changed files), and list the mutants that no spec of SPECS detects; SAMPLE=100 tests 100 of them, chosen at random by SEED
	@$(on_our_node) node scripts/mutants/main.ts '$(DIR)' '$(SPECS)' '$(SAMPLE)' '$(SEED)'

build: $(installed) ## Bundle both programs into dist/
	@$(on_our_node) npm run -s build

image: $(installed) ## Build the container image
	@$(on_our_node) scripts/image.sh

tools: ## Install promtool, Chromium and the servers that some specs need, from Debian's archive. Without them, these specs are skipped, or fail if CI is set
	@scripts/spec-tools.sh
	@scripts/source-servers.sh

$(installed): package-lock.json
	npm ci --include=dev --no-audit --no-fund --loglevel=error

# kubectl from PATH, or downloaded once.
kubectl: $(installed)
	@$(on_our_node) node scripts/kubectl.ts >/dev/null

# The versions of kubectl and Helm that specs need.
spec-binaries: $(installed)
	@$(on_our_node) node scripts/spec-binaries.ts

.PHONY: help demo demo-autoscaler test bare acceptance verify update bench fuzz soak accuracy mutants build image tools kubectl spec-binaries
