import { beforeEach, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { portfolioHashAfter } from '../../src/protocol/ledgerBlob.js'
import {
  type BoundOrder,
  ENCLAVE_BLOB,
  policyUpdate,
  portfolioUpdate,
  USER_BLOB,
} from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { bytes32, DAY, ORG, setUpInstitution, soon, usd, ZERO_BYTES32 } from '../support/institution.js'
import { orderActions } from '../support/orderActions.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const chain = useChain(setUpInstitution)
const { account, buy, nextOf, presentOf, relay, relayRevert, request } = orderActions(chain)

const admin = () => account('admin')
const id = () => accountIdOf(account('alice'))
const read = (method: string, ...args: unknown[]) => chain().read('ledger', method, ...args)
async function events(sent: ReturnType<typeof relay>) {
  return chain()
    .events(await sent)
    .map(({ name, args }) => [name, ...args])
}

describe('updatePortfolio', () => {
  let order: BoundOrder
  beforeEach(async () => {
    order = await request('alice', 'sale')
  })

  it('writes both blobs and the version, and replaces them by the next', async () => {
    expect(await events(relay(portfolioUpdate(order)))).toEqual([['PortfolioUpdated', id(), 1n]])
    const next = {
      ...(await nextOf('alice')),
      enclaveBlob: `0x${'e2'.repeat(600)}`,
      userBlob: `0x${'f2'.repeat(7)}`,
    } as const
    await relay(portfolioUpdate(order, next))
    expect(await read('portfolioVersion', id())).toBe(2n)
    expect(await read('enclaveBlob', id())).toBe(next.enclaveBlob)
    expect(await read('userBlob', id())).toBe(next.userBlob)
    const third = { ...(await nextOf('alice')), enclaveBlob: '0x01', userBlob: '0x02' } as const
    await relay(portfolioUpdate(order, third))
    expect(await read('enclaveBlob', id())).toBe('0x01')
    expect(await read('userBlob', id())).toBe('0x02')
  })

  it('keeps a running hash of everything that was written', async () => {
    expect(await read('portfolioHash', id())).toBe(ZERO_BYTES32)
    const first = { version: 1n, enclaveBlob: ENCLAVE_BLOB, userBlob: USER_BLOB }
    await relay(portfolioUpdate(order, first))
    const afterFirst = portfolioHashAfter(ZERO_BYTES32, first)
    expect(await read('portfolioHash', id())).toBe(afterFirst)
    const second = { version: 2n, enclaveBlob: '0x0102', userBlob: '0x0304' } as const
    await relay(portfolioUpdate(order, { ...second, previous: afterFirst }))
    expect(await read('portfolioHash', id())).toBe(portfolioHashAfter(afterFirst, second))
  })

  it('keeps accounts apart', async () => {
    await relay(portfolioUpdate(order))
    expect(await presentOf('bob')).toEqual({ version: 0n, previous: ZERO_BYTES32 })
    expect(await read('enclaveBlob', accountIdOf(account('bob')))).toBe('0x')
  })

  it('refuses any version but the next', async () => {
    await relay(portfolioUpdate(order))
    const { previous } = await nextOf('alice')
    for (const version of [0n, 1n, 3n, 2n ** 64n - 1n]) {
      expect(await relayRevert(portfolioUpdate(order, { version, previous }))).toEqual({
        name: 'VersionConflict',
        args: { expected: '2', got: `${version}` },
      })
    }
  })

  it('refuses the right version after another history', async () => {
    const others = [bytes32('a write that a reorganization replaced'), id()]
    for (const previous of others) {
      expect(await relayRevert(portfolioUpdate(order, { previous }))).toEqual({
        name: 'HistoryConflict',
        args: { expected: ZERO_BYTES32, got: previous },
      })
    }
    await relay(portfolioUpdate(order))
    const { previous } = await nextOf('alice')
    for (const got of [ZERO_BYTES32, ...others]) {
      expect(await relayRevert(portfolioUpdate(order, { version: 2n, previous: got }))).toEqual({
        name: 'HistoryConflict',
        args: { expected: previous, got },
      })
    }
  })

  it('refuses an empty blob', async () => {
    for (const empty of [{ enclaveBlob: '0x' }, { userBlob: '0x' }] as const) {
      expect(await relayRevert(portfolioUpdate(order, empty))).toEqual({ name: 'EmptyBlob', args: {} })
    }
  })

  it('takes the write after a reclaim, and only then', async () => {
    const bought = await buy('alice', 'buy', usd(7))
    const after = portfolioUpdate(bought, { state: 3n })
    const refusal = (state: string) => ({
      name: 'OrderNotRefunded',
      args: { orderId: bought.orderId, state },
    })
    expect(await relayRevert(after)).toEqual(refusal('1'))
    await chain().mineAt((await soon(chain())) + 8 * DAY)
    await chain().send('alice', 'escrow', 'reclaim', bought.orderId)
    expect(await relayRevert(portfolioUpdate(bought))).toEqual({
      name: 'OrderNotOpen',
      args: { orderId: bought.orderId, state: '3' },
    })
    expect(await events(relay(after))).toEqual([['PortfolioUpdated', id(), 1n]])
  })
})

describe('updatePolicy', () => {
  it('replaces the rulebook and counts its version', async () => {
    expect(await events(relay(policyUpdate(ORG, admin())))).toEqual([['PolicyUpdated', ORG, 1n]])
    await relay(policyUpdate(ORG, admin(), { version: 2n, policyBlob: '0xabcdef' }))
    expect(await read('policyVersion', ORG)).toBe(2n)
    expect(await read('policyBlob', ORG)).toBe('0xabcdef')
  })

  it('takes the largest rulebook that an envelope can carry within one transaction’s gas', async () => {
    const policyBlob: Hex = `0x${'5a'.repeat(16_384 + 29)}`
    const receipt = await relay(policyUpdate(ORG, admin(), { policyBlob }))
    expect(receipt.gasUsed).toBeLessThan(2n ** 24n)
    expect(await read('policyBlob', ORG)).toBe(policyBlob)
  })

  it('refuses an author who is not the institution’s admin in this very block', async () => {
    expect(await relayRevert(policyUpdate(ORG, account('alice')))).toEqual({
      name: 'NotInstitutionAdmin',
      args: { orgId: ORG, expected: admin(), got: account('alice') },
    })
    await chain().send('admin', 'registry', 'transferAdmin', account('alice'))
    await chain().send('alice', 'registry', 'acceptAdmin', ORG)
    expect(await relayRevert(policyUpdate(ORG, admin()))).toEqual({
      name: 'NotInstitutionAdmin',
      args: { orgId: ORG, expected: account('alice'), got: admin() },
    })
  })

  it('refuses an institution that does not exist or was only founded, for every author', async () => {
    const nowhere = nameToBytes32('Nowhere')
    const founded = nameToBytes32('Borealis')
    await chain().send('carol', 'registry', 'registerInstitution', founded)
    for (const orgId of [nowhere, founded, ZERO_BYTES32]) {
      for (const author of [admin(), account('carol'), ZERO]) {
        expect(await relayRevert(policyUpdate(orgId, author))).toEqual({
          name: 'NotInstitutionAdmin',
          args: { orgId, expected: ZERO, got: author },
        })
      }
    }
  })

  it('refuses an institution that is suspended', async () => {
    await chain().send('owner', 'registry', 'setAdmitted', ORG, admin(), false)
    expect(await relayRevert(policyUpdate(ORG, admin()))).toEqual({
      name: 'NotAdmitted',
      args: { orgId: ORG },
    })
    await chain().send('owner', 'registry', 'setAdmitted', ORG, admin(), true)
    expect(await relayRevert(policyUpdate(ORG, admin()))).toBeNull()
  })

  it('refuses any version but the next, and an empty rulebook', async () => {
    for (const version of [0n, 2n]) {
      expect(await relayRevert(policyUpdate(ORG, admin(), { version }))).toEqual({
        name: 'VersionConflict',
        args: { expected: '1', got: `${version}` },
      })
    }
    expect(await relayRevert(policyUpdate(ORG, admin(), { policyBlob: '0x' }))).toEqual({
      name: 'EmptyBlob',
      args: {},
    })
  })
})

describe('writePortfolio', () => {
  it('is the escrow’s alone: not the owner’s, not the enclave signer’s', async () => {
    for (const role of ['owner', 'relayer'] as const) {
      expect(
        await chain().revert(role, 'ledger', 'writePortfolio', id(), 1n, ZERO_BYTES32, '0x01', '0x01'),
      ).toEqual({
        name: 'NotEscrow',
        args: { expected: chain().addressOf('escrow'), caller: account(role) },
      })
    }
  })
})

describe('requirePortfolio', () => {
  it('passes for the current version and history, and reverts for any other', async () => {
    const requireOf = (version: bigint, hash: Hex) =>
      chain().revert('bob', 'ledger', 'requirePortfolio', id(), version, hash)
    expect(await requireOf(0n, ZERO_BYTES32)).toBeNull()
    await relay(portfolioUpdate(await request('alice', 'sale')))
    const { version, previous } = await presentOf('alice')
    expect(await requireOf(version, previous)).toBeNull()
    for (const got of [0n, 2n]) {
      expect(await requireOf(got, previous)).toEqual({
        name: 'VersionConflict',
        args: { expected: '1', got: `${got}` },
      })
    }
    expect(await requireOf(version, ZERO_BYTES32)).toEqual({
      name: 'HistoryConflict',
      args: { expected: previous, got: ZERO_BYTES32 },
    })
  })
})
