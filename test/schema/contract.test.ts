import { readFileSync } from "node:fs";
import {
  astFromValue,
  buildSchema as buildFromText,
  type GraphQLArgument,
  GraphQLID,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  print,
  printSchema,
} from "graphql";
import { describe, expect, it } from "vitest";
import { buildSchema } from "../../src/schema/schema.ts";

const contract = buildFromText(readFileSync(new URL("contract.graphql", import.meta.url), "utf8"));
const schema = buildSchema();

/** One line for each thing that a client may rely on. */
function promisesOf(from: GraphQLSchema): readonly string[] {
  return Object.values(from.getTypeMap())
    .filter((type) => !type.name.startsWith("__"))
    .flatMap((type) => promisesOfType(type));
}

function promisesOfType(type: GraphQLNamedType): readonly string[] {
  const kind = `${type.name} is ${type.constructor.name}`;
  if (isEnumType(type)) return [kind, ...type.getValues().map((value) => `${type.name}.${value.name}`)];
  if (isUnionType(type)) return [kind, ...type.getTypes().map((member) => `${type.name} holds ${member.name}`)];
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).map((field) => `input ${type.name}.${inputLine(field)}`);
    return [kind, ...(type.isOneOf ? [`${type.name} is oneOf`] : []), ...fields];
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [kind];
  const interfaces = type.getInterfaces().map((item) => `${type.name} implements ${item.name}`);
  const fields = Object.values(type.getFields()).flatMap((field) => [
    `${type.name}.${field.name}: ${field.type}`,
    ...field.args.map((argument) => `${type.name}.${field.name}(${inputLine(argument)})`),
  ]);
  return [kind, ...interfaces, ...fields];
}

function inputLine(input: GraphQLArgument | GraphQLInputField): string {
  const value = input.defaultValue === undefined ? undefined : astFromValue(input.defaultValue, input.type);
  return `${input.name}: ${input.type}${value ? ` = ${print(value).replace(/\s+/g, " ")}` : ""}`;
}

describe("the schema", () => {
  it("keeps every type, field, argument, nullability and default of the contract", () => {
    const kept = new Set(promisesOf(schema));
    const promised = promisesOf(contract);
    expect(promised.length).toBeGreaterThan(700);
    expect(promised.filter((line) => !kept.has(line))).toEqual([]);
  });

  it("adds no argument or input field that an old client would have to give", () => {
    const promised = new Set(promisesOf(contract));
    const added = promisesOf(schema).filter((line) => !promised.has(line));
    expect(added.filter((line) => /^input .*!$|\(.*!\)$/.test(line))).toEqual([]);
  });

  it("stands in schema.graphql as it is (npx tsx scripts/schema-print.ts writes it)", () => {
    const written = readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8");
    expect(written).toBe(`${printSchema(schema)}\n`);
  });

  it("describes every type, field, argument, input field and enum value", () => {
    const bare = Object.values(schema.getTypeMap())
      .filter((type) => !type.name.startsWith("__") && !isSpecifiedScalarType(type))
      .flatMap((type) => [...(type.description ? [] : [type.name]), ...bareMembers(type)]);
    expect(bare).toEqual([]);
  });

  it("has one ID, our own, wherever an id stands", () => {
    const types = Object.values(schema.getTypeMap());
    const inputs = types.flatMap((type) =>
      isInputObjectType(type)
        ? Object.values(type.getFields())
        : isObjectType(type) || isInterfaceType(type)
          ? Object.values(type.getFields()).flatMap((field) => [field, ...field.args])
          : [],
    );
    expect(inputs.map((input) => getNamedType(input.type)).filter((type) => type === GraphQLID)).toEqual([]);
    expect(schema.getType("ID")).not.toBe(GraphQLID);
  });

  it("can be built more than once, each time the same", () => {
    expect(printSchema(buildSchema())).toBe(printSchema(schema));
  });
});

function bareMembers(type: GraphQLNamedType): readonly string[] {
  const named = isEnumType(type)
    ? type.getValues()
    : isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
      ? Object.values(type.getFields())
      : [];
  const members = named.filter((member) => !member.description).map((member) => `${type.name}.${member.name}`);
  if (!isObjectType(type) && !isInterfaceType(type)) return members;
  const inputs = Object.values(type.getFields()).flatMap((field) =>
    field.args
      .filter((argument) => !argument.description)
      .map((argument) => `${type.name}.${field.name}(${argument.name})`),
  );
  return [...members, ...inputs];
}
