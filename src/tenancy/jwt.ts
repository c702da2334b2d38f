import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { badInput, GatewayError, unauthenticated, unavailable } from "../errors.ts";
import { isPossibleId } from "../store/check.ts";
import { MESSAGE_ROLES, type MessageRole, type UserId } from "../store/model.ts";
import { SCOPES, type Scope } from "../store/registry-contract.ts";
import { type Clock, type Instant, instant, MICROSECONDS_PER_SECOND } from "../time.ts";
import { USER_VISIBLE_ROLES, USER_WRITABLE_ROLES } from "./grants.ts";

/** What a token that was verified says; its tenant is still to be found. */
export interface JwtClaims {
  readonly tenantId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly userId: UserId | null;
  readonly visibleRoles: ReadonlySet<MessageRole>;
  readonly writableRoles: ReadonlySet<MessageRole>;
  readonly expiresAt: Instant;
}

export interface JwtVerifier {
  /** UNAUTHENTICATED for any token that does not hold; UNAVAILABLE where the issuer's keys can't be had. */
  verify(token: string): Promise<JwtClaims>;
}

/** Names of claims. A null one is never read. */
export interface JwtClaimNames {
  readonly tenant: string;
  readonly scopes: string;
  readonly user: string | null;
  readonly visibleRoles: string | null;
  readonly writableRoles: string | null;
}
export const JWT_CLAIM_NAMES: JwtClaimNames = Object.freeze({
  tenant: "tenant",
  scopes: "scope",
  user: "user",
  visibleRoles: "visible_roles",
  writableRoles: "writable_roles",
});

export interface JwtConfig {
  readonly source:
    | { readonly kind: "jwks"; readonly url: string; readonly fetch?: typeof fetch }
    | { readonly kind: "secret"; readonly secret: string };
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** Left out: every algorithm of the source's kind below. */
  readonly algorithms?: readonly string[] | undefined;
  readonly claims?: Partial<JwtClaimNames> | undefined;
  readonly clock: Clock;
}

/** Tolerance for clocks that differ, at the door alone: an open stream ends when its token does. */
const TOLERANCE_SECONDS = 30;
const SECRET_BYTES_MIN = 32;
/** Per source: with public keys an HS algorithm would take a key that everybody knows for the secret. */
const ALGORITHMS = {
  jwks: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
  secret: ["HS256", "HS384", "HS512"],
} as const;

/**
 * Verifies tokens of one issuer for this audience; both and an end (`exp`) must stand in the token. BAD_USER_INPUT for
 * a configuration that would verify nothing: an algorithm of another source's kind, a short secret.
 */
export function createJwtVerifier(config: JwtConfig): JwtVerifier {
  const algorithms = allowedAlgorithms(config);
  const key = keyOf(config.source);
  const names = { ...JWT_CLAIM_NAMES, ...config.claims };
  return {
    async verify(token) {
      const options = {
        algorithms: [...algorithms],
        issuer: config.issuer,
        audience: audiencesOf(config),
        requiredClaims: ["exp"],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(config.clock.now() / 1000),
      };
      try {
        const { payload } = await jwtVerify(token, key, options);
        return claimsOf(payload, names);
      } catch (error) {
        throw error instanceof GatewayError ? error : invalid(error);
      }
    },
  };
}

function allowedAlgorithms(config: JwtConfig): readonly string[] {
  const known: readonly string[] = ALGORITHMS[config.source.kind];
  const algorithms = config.algorithms ?? known;
  const strangers = algorithms.filter((algorithm) => !known.includes(algorithm));
  if (strangers.length > 0 || algorithms.length === 0) {
    throw badInput(["algorithms"], `With this source of keys the algorithms are among ${known.join(", ")}.`);
  }
  if (config.issuer === "") throw badInput(["issuer"], "Name the issuer of the tokens.");
  const audiences = audiencesOf(config);
  if (audiences.length === 0 || audiences.includes("")) {
    throw badInput(["audience"], "Name the audience of the tokens.");
  }
  return algorithms;
}

function audiencesOf(config: JwtConfig): string[] {
  return typeof config.audience === "string" ? [config.audience] : [...config.audience];
}

function keyOf(source: JwtConfig["source"]): JWTVerifyGetKey {
  if (source.kind === "secret") {
    const secret = new TextEncoder().encode(source.secret);
    if (secret.length < SECRET_BYTES_MIN) throw badInput(["secret"], "A shared secret has at least 32 bytes.");
    return () => secret;
  }
  if (!URL.canParse(source.url)) throw badInput(["url"], "This must be the URL of a JWKS document.");
  const { fetch } = source;
  const keys = createRemoteJWKSet(new URL(source.url), fetch === undefined ? {} : { [customFetch]: fetch });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      throw isAboutToken(error) ? invalid(error) : unavailable("The issuer's keys can't be had now; try again.", error);
    }
  };
}

/** The key set was there and had no key for this token; anything else is the key set's own failure. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

function invalid(cause: unknown): GatewayError {
  return new GatewayError("UNAUTHENTICATED", "This token is not valid.", { cause });
}

function claimsOf(payload: JWTPayload, names: JwtClaimNames): JwtClaims {
  const claim = (name: string | null): unknown =>
    name !== null && Object.hasOwn(payload, name) ? payload[name] : undefined;
  const tenantId = claim(names.tenant);
  if (typeof tenantId !== "string") throw unauthenticated("This token names no tenant.");
  const userId = userOf(claim(names.user));
  const scopes = new Set(SCOPES.filter((scope) => wordsOf(claim(names.scopes)).includes(scope)));
  if (userId !== null) scopes.delete("ADMIN");
  const roles = (name: string | null, ofUser: readonly MessageRole[]): ReadonlySet<MessageRole> => {
    const given = claim(name);
    if (given === undefined) return new Set(userId === null ? MESSAGE_ROLES : ofUser);
    return new Set(MESSAGE_ROLES.filter((role) => wordsOf(given).includes(role)));
  };
  return {
    tenantId,
    scopes,
    userId,
    visibleRoles: roles(names.visibleRoles, USER_VISIBLE_ROLES),
    writableRoles: roles(names.writableRoles, USER_WRITABLE_ROLES),
    expiresAt: instant(Math.min(Math.floor((payload.exp ?? 0) * MICROSECONDS_PER_SECOND), Number.MAX_SAFE_INTEGER)),
  };
}

/** A user claim that can't be read must not open what all users have. */
function userOf(value: unknown): UserId | null {
  if (value === undefined) return null;
  if (typeof value !== "string" || !isPossibleId(value)) throw unauthenticated("This token's user can't be read.");
  return value as UserId;
}

/** Words of a claim that is a list of texts, or one text with blanks between. */
function wordsOf(value: unknown): readonly unknown[] {
  if (typeof value === "string") return value.split(" ");
  return Array.isArray(value) ? value : [];
}
