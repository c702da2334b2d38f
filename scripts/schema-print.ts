import { writeFileSync } from "node:fs";
import { printSchema } from "graphql";
import { buildSchema } from "../src/schema/schema.ts";

// Writes what clients and tools read: schema.graphql at the root. A test fails where it is not up to date.
writeFileSync(new URL("../schema.graphql", import.meta.url), `${printSchema(buildSchema())}\n`);
