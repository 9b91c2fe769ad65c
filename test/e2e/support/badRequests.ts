// Requests that are wrong in exactly one way, over all routes.
import { z } from 'zod'
import { type SignedAuthorization, signedAuthorizationSchema } from '../../../src/protocol/authorization.js'
import type { Envelope } from '../../../src/protocol/envelope.js'
import type { Hex } from '../../../src/protocol/hex.js'
import type { ProblemCode } from '../../../src/server/http/problemCodes.js'

/** A request, and the problem that it gets. */
export interface BadRequest {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly code: ProblemCode
}

/** Valid bodies from which the bad requests are derived; never sent unchanged. */
export interface RightBodies {
  readonly orderId: Hex
  readonly envelope: Envelope
  readonly authorization: SignedAuthorization
  readonly token: string
}

type Json = Record<string, unknown>

const JSON_TYPE = { 'content-type': 'application/json' }
const NO_TEXT = [undefined, null, 1, true, {}, []]

/** Texts that are no hex of so many bytes, made of one that is. */
function wrongHex(right: string): string[] {
  const digits = right.slice(2)
  return [
    ...['', '0x', '0x0', 'zz', digits, `0X${digits}`, `${right}0`, `${right}00`, right.slice(0, -1)],
    ...[right.slice(0, -2), `${right.slice(0, -1)}g`, ` ${right}`, `${right}\n`, `${right.slice(0, -1)}０`],
    `0x ${digits.slice(1)}`,
  ]
}

const OFF_CURVE = [
  `0x02${'ff'.repeat(32)}`,
  `0x03${'00'.repeat(31)}05`,
  `0x05${'11'.repeat(32)}`,
  `0x00${'00'.repeat(32)}`,
  `0x04${'11'.repeat(64)}`,
  `0x06${'11'.repeat(64)}`,
]

/** Every way in which one member of a body can be wrong. */
function wrongMembers(right: Json, member: string, texts: readonly string[], code: ProblemCode) {
  const withMember = (value: unknown) => ({ body: { ...right, [member]: value } })
  return [
    ...texts.map((text) => ({ what: `${member} ${text.slice(0, 20)}…`, ...withMember(text), code })),
    ...NO_TEXT.map((value) => ({
      what: `${member} ${JSON.stringify(value)}`,
      ...withMember(value),
      code: 'invalid-body' as const,
    })),
  ]
}

function wrongEnvelopes(right: Json, maxBytes: number) {
  const { epk, iv, ct, tag } = right
  // A ciphertext may have any length up to the most.
  const anyLength = wrongHex(String(ct)).filter((text) => !/^0x(?:[0-9a-f]{2})+$/.test(text))
  const members: [string, string[]][] = [
    ['epk', [...wrongHex(String(epk)), ...OFF_CURVE]],
    ['iv', wrongHex(String(iv))],
    ['tag', wrongHex(String(tag))],
    ['ct', [...anyLength, `0x${'00'.repeat(maxBytes + 1)}`]],
  ]
  return members.flatMap(([member, texts]) => wrongMembers(right, member, texts, 'invalid-envelope'))
}

function wrongAuthorizations(authorization: SignedAuthorization) {
  const right: Json = z.encode(signedAuthorizationSchema, authorization)
  const { message, signature } = z
    .object({ message: z.record(z.string(), z.string()), signature: z.string() })
    .parse(right)
  const inMessage = (member: string, value: unknown) => ({
    what: `message.${member} ${JSON.stringify(value)}`,
    body: { ...right, message: { ...message, [member]: value } },
    code: 'invalid-body' as const,
  })
  const wrongNumbers = ['', '-1', '1.0', '0x1', '1e3', ' 1', '01', String(2n ** 64n), 'one']
  return [
    ...wrongMembers(right, 'primaryType', ['', 'Mint', 'portfolioUpdate', '__proto__'], 'invalid-body'),
    ...wrongMembers(right, 'signature', wrongHex(signature), 'invalid-body'),
    ...NO_TEXT.concat(['', 'text']).map((value) => ({
      what: `message ${JSON.stringify(value)}`,
      body: { ...right, message: value },
      code: 'invalid-body' as const,
    })),
    ...[...wrongHex(String(message.orderId)), ...NO_TEXT].map((value) => inMessage('orderId', value)),
    ...[...wrongHex(String(message.previous)), ...NO_TEXT].map((value) => inMessage('previous', value)),
    ...[...wrongHex(String(message.account)), ...NO_TEXT].map((value) => inMessage('account', value)),
    ...['256', ...NO_TEXT].map((value) => inMessage('state', value)),
    ...[...wrongNumbers, ...NO_TEXT].map((value) => inMessage('version', value)),
    ...['0x0', 'zz', `0x${'00'.repeat(20_481)}`].map((value) => inMessage('enclaveBlob', value)),
    inMessage('unknown', '1'),
    { what: 'one more member', body: { ...right, unknown: 1 }, code: 'invalid-body' as const },
  ]
}

const KIBIBYTE = 1_024

/** Bodies that every route with a body refuses. @param right one that the route takes */
function wrongTexts(
  right: string,
  limitBytes: number,
): { what: string; body: string | Uint8Array<ArrayBuffer>; code: ProblemCode }[] {
  const rest = right.slice(1)
  const json = { what: 'malformed JSON', code: 'malformed-json' } as const
  const names = ['__proto__', '\\u005f_proto__', 'constructor', 'prototype']
  return [
    ...['', '{', 'null,', `${right}x`, `\ufeff${right}`, `${right}${right}`, 'undefined', "{'a':1}"].map(
      (body) => ({ ...json, body }),
    ),
    ...names.map((name) => ({ ...json, body: `{"${name}":{},${rest}` })),
    { ...json, body: `{"ct":"0x00","ct":"0x01",${rest}` },
    { ...json, body: `{"a":{"__proto__":1},${rest}` },
    { ...json, body: Uint8Array.of(0x22, 0xc3, 0x28, 0x22) },
    { ...json, body: '['.repeat(33) + ']'.repeat(33) },
    ...['null', '[]', `[${right}]`, '"text"', '1', '{}'].map((body) => ({
      what: 'no object of this route',
      body,
      code: 'invalid-body' as const,
    })),
    { what: 'too long', body: right.padEnd(limitBytes + 1), code: 'body-too-large' },
  ]
}

const WRONG_HEADERS: { headers: Record<string, string>; code: ProblemCode }[] = [
  ...[
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
  ].map((type) => ({ headers: { 'content-type': type }, code: 'unsupported-media-type' as const })),
  { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, code: 'unsupported-media-type' },
  { headers: { ...JSON_TYPE, origin: 'https://evil.example' }, code: 'origin-not-allowed' },
  { headers: { ...JSON_TYPE, origin: 'null' }, code: 'origin-not-allowed' },
]

/** All that is wrong in a body or its headers. */
export function badBodies({ orderId, envelope, authorization, token }: RightBodies): BadRequest[] {
  const order: Json = { orderId, ...envelope }
  const policy: Json = { ...envelope }
  const unknown = (right: Json) => ({
    what: 'one more member',
    body: { ...right, unknown: 1 },
    code: 'invalid-body' as const,
  })
  const routes = [
    {
      path: '/orders',
      limitBytes: 64 * KIBIBYTE,
      right: order,
      wrong: [
        ...wrongMembers(order, 'orderId', wrongHex(orderId), 'invalid-body'),
        ...wrongEnvelopes(order, 4_096),
        unknown(order),
      ],
    },
    {
      path: '/policy',
      limitBytes: 64 * KIBIBYTE,
      right: policy,
      wrong: [...wrongEnvelopes(policy, 16_384), unknown(policy), unknown(order)],
    },
    {
      path: '/relay',
      limitBytes: 128 * KIBIBYTE,
      right: z.encode(signedAuthorizationSchema, authorization),
      wrong: wrongAuthorizations(authorization),
    },
  ]
  return routes.flatMap(({ path, limitBytes, right, wrong }) => {
    const text = JSON.stringify(right)
    const own = { authorization: `Bearer ${token}` }
    const common = { method: 'POST', path, headers: { ...JSON_TYPE, ...own } }
    return [
      ...wrong.map(({ body, ...rest }) => ({ ...common, ...rest, body: JSON.stringify(body) })),
      ...wrongTexts(text, limitBytes).map((request) => ({ ...common, ...request })),
      ...WRONG_HEADERS.map(({ headers, code }) => ({
        ...common,
        what: JSON.stringify(headers),
        headers: { ...own, ...headers },
        body: text,
        code,
      })),
    ]
  })
}
