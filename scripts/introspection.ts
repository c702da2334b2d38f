import { readFileSync, writeFileSync } from "node:fs";
import { introspectionFile } from "./introspection-file.ts";

// Writes the types that the extension's documents are checked against, out of schema.graphql. A test fails where they
// are not up to date.
const schema = readFileSync(new URL("../schema.graphql", import.meta.url), "utf8");
writeFileSync(new URL("../src/extension/session/introspection.d.ts", import.meta.url), introspectionFile(schema));
