import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // graphql ships both module kinds; without one spelling the test process holds two copies of it and
    // instanceof checks between them fail.
    alias: [{ find: /^graphql$/, replacement: "graphql/index.js" }],
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/long/**", "node_modules/**"],
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
