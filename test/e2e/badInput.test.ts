// Bad input gets a problem with its code: nothing is stored, nothing triggered, no gas spent.
import fc from 'fast-check'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checksum } from '../../src/protocol/address.js'
import {
  type Authorization,
  type AuthorizationDomain,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../src/protocol/authorization.js'
import { CURVE_ORDER } from '../../src/protocol/signature.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { grantedOrder, grantOrders, portfolioUpdate } from '../support/authorizations.js'
import { eventually } from '../support/eventually.js'
import { badPaths } from './support/badPaths.js'
import { type BadRequest, badBodies, type RightBodies } from './support/badRequests.js'
import { craft } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { effectsOf } from './support/effects.js'
import { sendRaw } from './support/hostile.js'
import { type FailingRequest, problemAt } from './support/problems.js'

const desk = useDesk({
  serverSettings: { RATE_LIMIT_PER_MINUTE: '1000000' },
})
const STRANGER = checksum(`0x${'ac'.repeat(20)}`)
const RUNS = 400

let right: RightBodies
let before: Awaited<ReturnType<typeof effectsOf>>

beforeAll(async () => {
  const [alice] = desk().traders
  await alice.trade({ side: 'BUY', symbol: 'AAPL', maxSpend: 100n * ONE_USDC })
  await eventually('nothing moves any more', async () => {
    const { files } = await effectsOf(desk())
    return files.every((file) => !file.startsWith('orders/open'))
  })
  const { intent, envelope } = await craft(desk(), alice)
  const { sandbox } = desk()
  await grantOrders({ provider: sandbox.provider, addresses: sandbox.info.contracts }, [STRANGER])
  const token = sandbox.secrets.relayAuthToken
  right = { orderId: intent.orderId, envelope, authorization: sign(update(1n)), token }
})
beforeEach(async () => {
  before = await effectsOf(desk())
})
afterEach(async () => {
  expect(await effectsOf(desk())).toEqual(before)
  expect((await fetch(`${desk().sandbox.info.url}/health`)).status).toBe(200)
})

function update(version: bigint): Authorization {
  return portfolioUpdate(grantedOrder(STRANGER), { version })
}

function sign(authorization: Authorization, change: Partial<AuthorizationDomain> = {}, key?: `0x${string}`) {
  const { sandbox, contracts } = desk()
  const domain = { chainId: sandbox.info.chainId, verifyingContract: contracts.ledger.address, ...change }
  return signAuthorization(authorization, domain, key ?? sandbox.secrets.enclavePrivateKey)
}

const problemOf = (request: FailingRequest) => problemAt(desk().sandbox.info.url, request)

/** The requests with another answer than they should get. */
async function wronglyAnswered(requests: readonly BadRequest[]): Promise<string[]> {
  const wrong: string[] = []
  for (const request of requests) {
    const { code } = await problemOf(request)
    if (code !== request.code) wrong.push(`${request.method} ${request.path} ${request.what}: ${code}`)
  }
  return wrong
}

describe('a request that is wrong in one way', () => {
  it('in its body or headers', async () => {
    const requests = badBodies(right)
    expect(requests.length).toBeGreaterThan(250)
    expect(await wronglyAnswered(requests)).toEqual([])
  })

  it('in its path, method or token', async () => {
    const requests = badPaths(right.token)
    expect(requests.length).toBeGreaterThan(200)
    expect(await wronglyAnswered(requests)).toEqual([])
  })

  it('in its HTTP', async () => {
    const { url } = desk().sandbox.info
    const head = 'POST /orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
    const answers = {
      'malformed-request': [
        'nonsense\r\n\r\n',
        'GET / HTTP/1.1\r\nHost a\r\n\r\n',
        '\x16\x03\x01\x02\x00\x01',
      ],
      'headers-too-large': [`GET /health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    }
    for (const [code, requests] of Object.entries(answers)) {
      for (const request of requests) expect(await sendRaw(url, request)).toContain(`"code":"${code}"`)
    }
    const smuggled = `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect(await sendRaw(url, smuggled)).toMatch(/^HTTP\/1\.1 400 /)
    // Broken off inside its body: no client is left for an answer.
    await sendRaw(url, `${head}Content-Length: 5000\r\n\r\n${JSON.stringify(right.envelope)}`)
  })
})

describe('an authorization', () => {
  const post = (body: unknown) =>
    problemOf({
      method: 'POST',
      path: '/relay',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${right.token}` },
      body: JSON.stringify(body),
    })
  const encode = (authorization: RightBodies['authorization']) =>
    z.encode(signedAuthorizationSchema, authorization)

  it('that another key signed, or for another chain or contract, or in another form', async () => {
    const { sandbox, contracts } = desk()
    const authorization = encode(right.authorization)
    const { signature } = authorization
    const highS = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`)
    const forged = [
      encode(sign(update(1n), {}, sandbox.accounts.relayer.privateKey)),
      encode(sign(update(1n), { chainId: 1 })),
      encode(sign(update(1n), { verifyingContract: contracts.pool.address })),
      { ...authorization, message: encode(sign(update(2n))).message },
      { ...authorization, signature: `${signature.slice(0, 130)}1d` },
      {
        ...authorization,
        signature: signature.slice(0, 66) + highS.toString(16).padStart(64, '0') + signature.slice(130),
      },
      { ...authorization, signature: `0x${'00'.repeat(65)}` },
    ]
    for (const body of forged) expect((await post(body)).code).toBe('invalid-signature')
  })

  it('that the contract would refuse', async () => {
    const problem = await post(encode(sign(update(7n))))
    expect(problem).toMatchObject({ code: 'would-revert', revert: { name: 'VersionConflict' } })
  })
})

describe('anything else', () => {
  it(`${RUNS} random requests`, async () => {
    const routes = fc.constantFrom('/orders', '/policy', '/relay')
    const members = fc.constantFrom(
      'orderId',
      'epk',
      'iv',
      'ct',
      'tag',
      'primaryType',
      'message',
      'signature',
    )
    const anyBody = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.dictionary(members, fc.jsonValue()).map((body) => JSON.stringify(body)),
    )
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${right.token}` }
    const bodies = fc.record({ path: routes, body: fc.oneof(anyBody, damaged()) })
    const paths = fc.record({
      path: fc
        .tuple(
          fc.constantFrom('orders', 'policy', 'org', 'relay', 'wallet', 'compliance', 'x'),
          fc.string({ unit: 'binary' }),
        )
        .map(([route, text]) => `/${route}/a${encodeURIComponent(text)}`),
    })
    const requests = fc.oneof(
      bodies.map((request) => ({ method: 'POST', headers, ...request })),
      paths.map((request) => ({ method: 'GET', headers, ...request })),
    )
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const { status } = await problemOf(request)
        expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
      }),
      { numRuns: RUNS, seed: 20_260_101 },
    )
  })
})

/** A right body with one character too many or too few: then it is none. */
function damaged(): fc.Arbitrary<string> {
  const { orderId, envelope, authorization } = right
  const texts = [{ orderId, ...envelope }, envelope, z.encode(signedAuthorizationSchema, authorization)]
  return fc
    .tuple(
      fc.constantFrom(...texts.map((body) => JSON.stringify(body))),
      fc.nat(),
      fc.constantFrom('', ...'09afx":,{}[]\\-\0'),
    )
    .map(([text, place, inserted]) => {
      const at = place % text.length
      return text.slice(0, at) + inserted + text.slice(inserted === '' ? at + 1 : at)
    })
}
