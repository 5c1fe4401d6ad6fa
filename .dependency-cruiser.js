/** What a node agent is made of. */
const belowNodeAgent = [
  "api",
  "converter",
  "launcher-pod",
  "host-primitives",
  "network-setup",
  "domain-manager",
  "launcher",
  "migration",
];

/** What each package may import of the others. The one table of the layers; see docs/decisions. */
const layers = {
  api: [],
  converter: ["api"],
  "launcher-pod": ["api"],
  "host-primitives": [],
  "network-setup": ["api", "host-primitives"],
  "domain-manager": ["api", "converter"],
  launcher: ["api", "converter", "domain-manager", "host-primitives", "network-setup", "migration"],
  "node-agent": [...belowNodeAgent, "kube", "pki"],
  // Plays API server, scheduler and kubelet on one host.
  local: [...belowNodeAgent, "node-agent"],
  // Of `api` only what knows nothing of VMs; see the rule below.
  pki: ["api", "host-primitives"],
  // Of `api` only what knows nothing of VMs; see the rule below.
  kube: ["api"],
  controller: ["api", "kube", "launcher-pod", "migration"],
  "api-server": ["api", "kube", "pki"],
  // Of `api-server` and `node-agent` only what tells of them: rules, webhooks; it runs neither.
  operator: ["api", "kube", "api-server", "node-agent"],
  // Of `domain-manager`, `launcher` and `migration` only types; see the rule below.
  testing: ["api", "kube", "domain-manager", "launcher", "migration"],
  // Recorded answers of KubeVirt, and what translates them into calls of the packages.
  conformance: [
    ...belowNodeAgent.filter((name) => name !== "launcher"),
    "node-agent",
    "controller",
    "kube",
  ],
  // A libvirtd without systemd and a guest that boots in seconds, for the host tier of the others.
  lab: ["api"],
};

/** Packages that differ by subpath: the folder below src decides. */
const layersOfMigration = {
  policy: ["api"],
  source: ["api", "converter", "domain-manager", "network-setup", "host-primitives", "pki"],
  target: ["api", "converter", "domain-manager", "network-setup", "host-primitives", "pki"],
  handover: ["api", "host-primitives"],
  proxy: ["api", "host-primitives", "pki"],
};

/** Packages that run in a browser: nothing of Node may be in them. */
const pure = ["api", "converter", "launcher-pod"];

// Folders of tests; the package `testing` is none.
const notTests = "\\.(test|bench)\\.ts$|/src/testing/|/src/.+/testing/";

function layer(name, from, allowed) {
  return {
    name: `layer-${name}`,
    severity: "error",
    from: { path: from, pathNot: notTests },
    to: { path: "^packages/", pathNot: allowed.map((p) => `^packages/${p}/`) },
  };
}

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    { name: "no-undeclared", severity: "error", from: {}, to: { couldNotResolve: true } },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "pure-packages-run-in-a-browser",
      severity: "error",
      from: { path: `^packages/(${pure.join("|")})/src`, pathNot: notTests },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "policy-of-migration-runs-in-a-browser",
      severity: "error",
      from: { path: "^packages/migration/src/policy", pathNot: notTests },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "launcher-stays-small",
      comment: "@kubernetes/client-node costs 118 MB of memory on import",
      severity: "error",
      from: { path: "^packages/launcher/" },
      to: { path: "@kubernetes/client-node", reachable: true },
    },
    {
      name: "kube-and-pki-know-nothing-of-vms",
      severity: "error",
      from: { path: "^packages/(kube|pki)/src", pathNot: notTests },
      to: {
        path: "^packages/api/",
        pathNot: "^packages/api/src/((clock|random|observe)/|go-json)",
      },
    },
    {
      name: "testing-needs-no-code-of-what-it-simulates",
      severity: "error",
      from: { path: "^packages/testing/src", pathNot: notTests },
      to: {
        path: "^packages/(domain-manager|launcher|migration)/",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "nobody-imports-the-command-line",
      severity: "error",
      from: { path: "^packages/", pathNot: "^packages/cli/" },
      to: { path: "^packages/cli/" },
    },
    ...Object.entries(layers).map(([name, allowed]) =>
      layer(name, `^packages/${name}/src`, [name, ...allowed]),
    ),
    ...Object.entries(layersOfMigration).map(([folder, allowed]) =>
      layer(`migration-${folder}`, `^packages/migration/src/${folder}`, ["migration", ...allowed]),
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "/dist/" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ["@virtkit/source", "import", "default"],
      exportsFields: ["exports"],
      extensions: [".ts", ".js", ".json"],
    },
  },
};
