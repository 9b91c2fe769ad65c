import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { checksum } from '../../src/protocol/address.js'
import {
  type Authorization,
  type AuthorizationDomain,
  signAuthorization,
} from '../../src/protocol/authorization.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { grantedOrder, grantOrders, portfolioUpdate } from '../support/authorizations.js'
import { eventually } from '../support/eventually.js'
import { badPaths } from './support/badPaths.js'
import { type BadRequest, badBodies, type RightBodies } from './support/badRequests.js'
import { craft } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { effectsOf } from './support/effects.js'
import { type FailingRequest, problemAt } from './support/problems.js'

const desk = useDesk({
  serverSettings: { RATE_LIMIT_PER_MINUTE: '1000000' },
})
const STRANGER = checksum(`0x${'ac'.repeat(20)}`)

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

it('a request that is wrong in one way in its body or headers', async () => {
  const requests = badBodies(right)
  expect(requests.length).toBeGreaterThan(250)
  expect(await wronglyAnswered(requests)).toEqual([])
})

it('a request that is wrong in one way in its path, method or token', async () => {
  const requests = badPaths(right.token)
  expect(requests.length).toBeGreaterThan(200)
  expect(await wronglyAnswered(requests)).toEqual([])
})
