import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface SourceFile {
  readonly name: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** Imports of our own files, by name; of packages, by specifier. */
  readonly ours: readonly string[];
  readonly packages: readonly string[];
}

function readSources(folder: string): readonly SourceFile[] {
  return (
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      // Declarations are generated; a test of their own says that they are up to date.
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
      .map((name) => readSource(join(folder, name)))
  );
}

function readSource(name: string): SourceFile {
  const text = readFileSync(join(root, name), "utf8");
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"/gms)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
  const ours = specifiers
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(root, normalize(join(root, dirname(name), specifier))));
  return { name, text, lines: text.split("\n"), ours, packages: specifiers.filter((item) => !item.startsWith(".")) };
}

const sources = readSources("src");

/** Rooms by path prefix, longest first, and the prefixes that each may import. */
const walls: readonly (readonly [room: string, may: readonly string[]])[] = [
  ["src/store/sqlite/", ["src/store/", "leaf"]],
  ["src/store/conformance/", ["src/store/", "leaf"]],
  ["src/store/", ["src/store/", "leaf"]],
  ["src/events/", ["src/events/", "src/store/", "leaf"]],
  ["src/tenancy/", ["src/tenancy/", "src/store/", "src/events/", "leaf"]],
  ["src/schema/", ["src/schema/", "src/store/", "src/events/", "src/tenancy/contract.ts", "leaf"]],
  ["src/server/", ["src/server/", "src/schema/", "src/tenancy/", "src/events/", "src/store/", "src/config.ts", "leaf"]],
  ["src/cli/", ["src/", "leaf"]],
  // The one way to a local file; what else runs in an agent's process knows no engine.
  ["src/extension/sqlite.ts", ["src/extension/", "src/store/", "leaf"]],
  ["src/extension/", ["src/extension/", "src/store/", "leaf"]],
  ["src/", ["src/", "leaf"]],
];
const leaves = new Set(
  ["errors", "time", "uuid", "json", "text", "log", "metrics", "assert"].map((name) => `src/${name}.ts`),
);
const packageHomes: readonly (readonly [pattern: RegExp, home: RegExp])[] = [
  [/^better-sqlite3$/, /^src\/store\/sqlite\/open[a-z-]*\.ts$/],
  [/^lru-cache$/, /^src\/tenancy\/pool\.ts$/],
  [/^@pothos\//, /^src\/schema\//],
  [/^dataloader$/, /^src\/schema\/loaders\.ts$/],
  [/^(graphql-yoga|@graphql-yoga\/|graphql-ws|ws$|@escape\.tech\/)/, /^src\/server\//],
  [/^jose$/, /^src\/tenancy\/jwt\.ts$/],
  [/^gql\.tada$/, /^src\/extension\/session\//],
  [/^node:sqlite$/, /^never$/],
];

function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "")
    .replace(/"[^"\n]*"/g, '""');
}

function wallOf(name: string): readonly [string, readonly string[]] {
  const wall = walls.find(([room]) => name.startsWith(room));
  if (wall === undefined) throw new Error(`${name} stands in no room`);
  return wall;
}

describe("the source tree", () => {
  it("keeps its walls: a file imports only from rooms that its own may know", () => {
    const broken = sources.flatMap((file) => {
      const [, may] = leaves.has(file.name) ? ["leaf", ["leaf"]] : wallOf(file.name);
      const crosses = (target: string) =>
        !may.some((prefix) => (prefix === "leaf" ? leaves.has(target) : target.startsWith(prefix)));
      const outward = file.ours
        .filter(crosses)
        .map((target) => `${file.name} imports ${target}: hand it in as an argument instead`);
      const engine = file.ours.filter(
        (target) =>
          target.startsWith("src/store/sqlite/") &&
          !/^src\/(store\/sqlite|cli)\/|^src\/(gateway|data-folder)\.ts/.test(file.name),
      );
      return [
        ...outward,
        ...engine.map((target) => `${file.name} names the engine (${target}): use store/contract.ts`),
      ];
    });
    expect(broken).toEqual([]);
  });

  it("keeps node: and packages out of what the extension reaches", () => {
    const pure = sources.filter((file) => leaves.has(file.name) || /^src\/store\/[^/]+\.ts$/.test(file.name));
    expect(pure.length).toBeGreaterThan(10);
    expect(pure.filter((file) => file.packages.length > 0).map((file) => `${file.name}: ${file.packages}`)).toEqual([]);
  });

  it("gives each outside package one home", () => {
    const strays = sources.flatMap((file) =>
      file.packages.flatMap((specifier) =>
        packageHomes
          .filter(([pattern, home]) => pattern.test(specifier) && !home.test(file.name))
          .map(([, home]) => `${file.name} imports ${specifier}; its home is ${home.source}`),
      ),
    );
    expect(strays).toEqual([]);
  });

  it("has no import cycle, types included", () => {
    const graph = new Map(sources.map((file) => [file.name, file.ours]));
    const done = new Set<string>();
    const visit = (name: string, trail: readonly string[]): string[] => {
      if (trail.includes(name)) return [[...trail.slice(trail.indexOf(name)), name].join(" → ")];
      if (done.has(name)) return [];
      const found = (graph.get(name) ?? []).flatMap((next) => visit(next, [...trail, name]));
      done.add(name);
      return found;
    };
    expect(sources.flatMap((file) => visit(file.name, []))).toEqual([]);
  });

  it("has files of at most 300 lines and lines of at most 120 characters", () => {
    // Types only, the vocabulary of the whole product; nothing in them can be split without a barrel.
    const vocabulary = ["src/store/contract.ts", "src/store/model.ts"];
    const long = sources
      .filter((file) => file.lines.length > 301 && !vocabulary.includes(file.name))
      .map((file) => `${file.name}: split it by subject`);
    const wide = sources.flatMap((file) =>
      file.lines.flatMap((line, index) =>
        line.length > 120 ? [`${file.name}:${index + 1} is ${line.length} wide`] : [],
      ),
    );
    expect([...long, ...wide]).toEqual([]);
  });

  it("has no any, no double cast, no silenced type, no default export, no barrel, no catch-all file", () => {
    const rules: readonly (readonly [RegExp, string])[] = [
      [/(: any\b|<any>|as any\b|as unknown as)/, "give it its type"],
      [/@ts-(ignore|nocheck|expect-error)/, "mend the type"],
      [/^export default/m, "export by name"],
      [/^export \* from/m, "import from the file that defines"],
    ];
    const found = sources.flatMap((file) =>
      rules
        .filter(([pattern]) => pattern.test(withoutComments(file.text)))
        .map(([, advice]) => `${file.name}: ${advice}`),
    );
    const catchAll = sources.filter((file) => /(utils?|helpers?|common)\.ts$/.test(file.name)).map((file) => file.name);
    expect([...found, ...catchAll]).toEqual([]);
  });

  it("reads the environment, arguments and signals in main.ts alone", () => {
    const strays = sources.filter(
      (file) => file.name !== "src/main.ts" && /\bprocess\.(env|argv|exit|on)\b/.test(file.text),
    );
    expect(strays.map((file) => file.name)).toEqual([]);
  });

  it("says what exported functions promise", () => {
    // The operations in store/sqlite carry out store/contract.ts, which documents them method by method.
    const documented = sources.filter((file) => !file.name.startsWith("src/store/sqlite/"));
    const bare = documented.flatMap((file) =>
      file.lines.flatMap((line, index) => {
        const name = /^export function (\w+)/.exec(line)?.[1];
        const before = file.lines[index - 1] ?? "";
        return name === undefined || before.trimEnd().endsWith("*/") ? [] : [`${file.name}:${index + 1} ${name}`];
      }),
    );
    expect(bare).toEqual([]);
  });
});
