import { describe, expect, it } from 'vitest'
import type { Authorization } from '../../src/protocol/authorization.js'
import type { Hex } from '../../src/protocol/hex.js'
import { accountIdOf, nameToBytes32 } from '../../src/protocol/identifiers.js'
import { policyUpdate, portfolioUpdate, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { ORG, setUpInstitution } from '../support/institution.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const chain = useChain(setUpInstitution)

const admin = () => chain().account('admin')
const alice = () => chain().account('alice')
const read = (method: string, ...args: unknown[]) => chain().read('ledger', method, ...args)
const relay = (authorization: Authorization) => chain().send('relayer', ...signedCall(chain(), authorization))
const relayRevert = (authorization: Authorization) =>
  chain().revert('relayer', ...signedCall(chain(), authorization))
async function events(sent: ReturnType<typeof relay>) {
  return chain()
    .events(await sent)
    .map(({ name, args }) => [name, ...args])
}

describe('updatePortfolio', () => {
  it('writes both blobs and the version, and replaces them by the next', async () => {
    const id = accountIdOf(alice())
    expect(await events(relay(portfolioUpdate(alice())))).toEqual([['PortfolioUpdated', id, 1n]])
    const next = {
      version: 2n,
      enclaveBlob: `0x${'e2'.repeat(600)}`,
      userBlob: `0x${'f2'.repeat(7)}`,
    } as const
    await relay(portfolioUpdate(alice(), next))
    expect(await read('portfolioVersion', id)).toBe(2n)
    expect(await read('enclaveBlob', id)).toBe(next.enclaveBlob)
    expect(await read('userBlob', id)).toBe(next.userBlob)
    await relay(portfolioUpdate(alice(), { version: 3n, enclaveBlob: '0x01', userBlob: '0x02' }))
    expect(await read('enclaveBlob', id)).toBe('0x01')
    expect(await read('userBlob', id)).toBe('0x02')
  })

  it('keeps accounts apart', async () => {
    await relay(portfolioUpdate(alice()))
    expect(await read('portfolioVersion', accountIdOf(chain().account('bob')))).toBe(0n)
    expect(await read('enclaveBlob', accountIdOf(chain().account('bob')))).toBe('0x')
  })

  it('refuses any version but the next', async () => {
    await relay(portfolioUpdate(alice()))
    for (const version of [0n, 1n, 3n, 2n ** 64n - 1n]) {
      expect(await relayRevert(portfolioUpdate(alice(), { version, userBlob: '0x77' }))).toEqual({
        name: 'VersionConflict',
        args: { expected: '2', got: `${version}` },
      })
    }
  })

  it('refuses an empty blob', async () => {
    for (const empty of [{ enclaveBlob: '0x' }, { userBlob: '0x' }] as const) {
      expect(await relayRevert(portfolioUpdate(alice(), empty))).toEqual({ name: 'EmptyBlob', args: {} })
    }
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
    expect(await relayRevert(policyUpdate(ORG, alice()))).toEqual({
      name: 'NotInstitutionAdmin',
      args: { orgId: ORG, expected: admin(), got: alice() },
    })
    await chain().send('admin', 'registry', 'transferAdmin', alice())
    await chain().send('alice', 'registry', 'acceptAdmin', ORG)
    expect(await relayRevert(policyUpdate(ORG, admin()))).toEqual({
      name: 'NotInstitutionAdmin',
      args: { orgId: ORG, expected: alice(), got: admin() },
    })
  })

  it('refuses an institution that does not exist, in nobody’s name too', async () => {
    const nowhere = nameToBytes32('Nowhere')
    for (const author of [admin(), ZERO]) {
      expect(await relayRevert(policyUpdate(nowhere, author))).toEqual({
        name: 'NotInstitutionAdmin',
        args: { orgId: nowhere, expected: ZERO, got: author },
      })
    }
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
        await chain().revert(role, 'ledger', 'writePortfolio', accountIdOf(alice()), 1n, '0x01', '0x01'),
      ).toEqual({
        name: 'NotEscrow',
        args: { expected: chain().addressOf('escrow'), caller: chain().account(role) },
      })
    }
  })
})

describe('requirePortfolioVersion', () => {
  it('passes for the current version and reverts for any other', async () => {
    await relay(portfolioUpdate(alice()))
    const id = accountIdOf(alice())
    expect(await chain().revert('bob', 'ledger', 'requirePortfolioVersion', id, 1n)).toBeNull()
    for (const got of [0n, 2n]) {
      expect(await chain().revert('bob', 'ledger', 'requirePortfolioVersion', id, got)).toEqual({
        name: 'VersionConflict',
        args: { expected: '1', got: `${got}` },
      })
    }
  })
})
