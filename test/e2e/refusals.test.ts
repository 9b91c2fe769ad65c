import { Interface } from 'ethers'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { checksum } from '../../src/protocol/address.js'
import { orderReceivedSchema, receiptSchema } from '../../src/protocol/api.js'
import {
  type SignedAuthorization,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../src/protocol/authorization.js'
import { bytesToHex } from '../../src/protocol/hex.js'
import { accountIdOf } from '../../src/protocol/identifiers.js'
import { ONE_USDC } from '../../src/protocol/units.js'
import { sendAll } from '../../src/sandbox/transactions.js'
import { grantedOrder, grantOrders, portfolioUpdate } from '../support/authorizations.js'
import { craft, openRequest, postOrder, submit } from './support/craft.js'
import { useDesk } from './support/desk.js'
import { brokerOrder } from './support/trader.js'

const desk = useDesk()
const registry = new Interface(institutionRegistryAbi)

beforeAll(async () => {
  const [alice, , carol] = desk().traders
  await Promise.all([
    alice.trade({ side: 'BUY', symbol: 'AAPL', maxSpend: 2_000n * ONE_USDC }),
    carol.trade({ side: 'BUY', symbol: 'MSFT', maxSpend: 2_000n * ONE_USDC }),
  ])
})

describe('the rulebook refuses', () => {
  beforeAll(async () => {
    const [alice, bob, carol] = desk().traders
    const all = { canBuy: true, canSell: true, restricted: [] }
    await desk().admin.publishRulebook({
      employees: {
        [alice.account.address]: all,
        [bob.account.address]: { canBuy: false, canSell: true, restricted: [] },
        [carol.account.address]: { ...all, restricted: ['TSLA'] },
      },
      maxOrderNotional: 3_000n * ONE_USDC,
      allowWithdrawShares: false,
    })
  })

  it('a buy by one who may not: the USDC comes back, and only the sealed notice says why', async () => {
    const [, bob] = desk().traders
    const before = await bob.wallet()
    const status = await bob.trade({ side: 'BUY', symbol: 'AAPL', maxSpend: 100n * ONE_USDC })
    expect(status.state).toBe('REFUNDED')
    expect(await bob.wallet()).toBe(before)
    expect(brokerOrder(desk().sandbox, status.orderId)).toBeUndefined()
    expect(await bob.reason(status)).toBe('not-permitted')
    const everything = JSON.stringify({ ...status, amount: null })
    expect(everything).not.toContain('not-permitted')
    expect(everything).not.toContain('AAPL')
  })
})

describe('a removed employee', () => {
  beforeAll(async () => {
    const { sandbox, contracts, traders } = desk()
    const [, , carol] = traders
    const call = {
      to: contracts.registry.address,
      abi: registry,
      method: 'setMember',
      args: [carol.account.address, false],
    }
    await sendAll(sandbox.provider, sandbox.accounts.admin, [call])
  })

  it('may still sell and withdraw the cash, so that nothing is trapped', async () => {
    const [, , carol] = desk().traders
    const wallet = await carol.wallet()
    const sale = await carol.trade({ side: 'SELL', symbol: 'MSFT', maxSpend: 3_000n * ONE_USDC })
    expect(sale.state).toBe('SETTLED')
    const { cash, positions } = await carol.portfolio()
    expect(positions.MSFT?.qty ?? 0n).toBe(0n)
    const withdrawal = await carol.trade({ side: 'WITHDRAW', symbol: 'USDC', maxSpend: cash })
    expect(withdrawal.state).toBe('SETTLED')
    expect(await carol.wallet()).toBe(wallet + cash)
    expect((await carol.portfolio()).cash).toBe(0n)
  })

  it('may open no buy', async () => {
    const [, , carol] = desk().traders
    await expect(carol.send({ side: 'BUY', symbol: 'MSFT', maxSpend: ONE_USDC * 10n })).rejects.toMatchObject(
      {
        code: 'NotAdmitted',
      },
    )
  })
})

describe('an order that is not what it says', () => {
  it('signed by another wallet is refunded without a notice: nothing in it is trusted enough to seal one to', async () => {
    const [alice, bob] = desk().traders
    const orderId = await submit(desk(), alice, await craft(desk(), alice, {}, bob.account))
    const status = await alice.ended(orderId)
    expect(status).toMatchObject({ state: 'REFUNDED', notice: null })
  })

  it('whose envelope is not the one that the escrow was opened for starts no run', async () => {
    const [alice] = desk().traders
    const [real, other] = [await craft(desk(), alice), await craft(desk(), alice)]
    await openRequest(desk(), alice, real)
    const { orderId } = real.intent
    const response = await postOrder(desk(), { orderId, ...other.envelope })
    expect(response.status).toBe(202)
    expect(orderReceivedSchema.parse(await response.json()).commit).toBe(other.commit)
    const status = () => alice.client.getOrder(orderId)
    await expect.poll(status, { timeout: 30_000 }).toMatchObject({ state: 'OPEN', triggers: [] })
    // The real one takes its place.
    expect((await alice.client.submitOrder({ orderId, ...real })).commit).toBe(real.commit)
    expect((await alice.ended(orderId)).state).toBe('SETTLED')
  })
})

describe('twice the same', () => {
  it('POST /orders is one order', async () => {
    const [alice] = desk().traders
    const crafted = await craft(desk(), alice)
    const { orderId } = crafted.intent
    await openRequest(desk(), alice, crafted)
    const body = { orderId, ...crafted.envelope }
    const answers = await Promise.all(Array.from({ length: 8 }, () => postOrder(desk(), body)))
    const parsed = await Promise.all(
      answers.map(async (answer) => orderReceivedSchema.parse(await answer.json())),
    )
    expect(parsed.filter(({ result }) => result === 'received')).toHaveLength(1)
    expect(new Set(parsed.map(({ receivedAt }) => receivedAt)).size).toBe(1)
    const status = await alice.ended(orderId)
    expect(status.triggers).toHaveLength(1)
    const later = orderReceivedSchema.parse(await (await postOrder(desk(), body)).json())
    expect(later).toMatchObject({ result: 'already-received', commit: crafted.commit })
  })

  it('POST /relay is one transaction, for every caller at any time', async () => {
    const { sandbox, contracts } = desk()
    const account = checksum(bytesToHex(crypto.getRandomValues(new Uint8Array(20))))
    await grantOrders({ provider: sandbox.provider, addresses: sandbox.info.contracts }, [account])
    const domain = { chainId: sandbox.info.chainId, verifyingContract: contracts.ledger.address }
    const signed = signAuthorization(
      portfolioUpdate(grantedOrder(account)),
      domain,
      sandbox.secrets.enclavePrivateKey,
    )
    const before = await sandbox.provider.getTransactionCount(sandbox.accounts.relayer.address)
    const answers = await Promise.all(Array.from({ length: 8 }, () => relay(signed)))
    const repeated = await relay(signed)
    expect(answers.every(({ status }) => status === 'confirmed')).toBe(true)
    expect(new Set([...answers, repeated].map(({ txHash }) => txHash)).size).toBe(1)
    expect(await contracts.ledger.portfolioVersion(accountIdOf(account))).toBe(1n)
    expect(await sandbox.provider.getTransactionCount(sandbox.accounts.relayer.address)).toBe(before + 1)
  })
})

async function relay(signed: SignedAuthorization) {
  const { info, secrets } = desk().sandbox
  const response = await fetch(`${info.url}/relay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secrets.relayAuthToken}` },
    body: JSON.stringify(z.encode(signedAuthorizationSchema, signed)),
  })
  return receiptSchema.parse(await response.json())
}
