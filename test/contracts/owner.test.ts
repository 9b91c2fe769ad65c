import { describe, expect, it } from 'vitest'
import type { Hex } from '../../src/protocol/hex.js'
import { digestOf, domainOf, portfolioUpdate, signedCall } from '../support/authorizations.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const ZERO: Hex = `0x${'00'.repeat(20)}`
const NEXT_KEY: Hex = `0x${'e2'.repeat(32)}`
/** The address of `NEXT_KEY`. */
const NEXT_SIGNER: Hex = '0x7F00CA392c246f3cE6f696c0a687BCce0c3af9F7'

const chain = useChain()

const unauthorized = () => ({
  name: 'OwnableUnauthorizedAccount',
  args: { account: chain().account('admin') },
})

describe.each(['escrow', 'ledger', 'pool'] as const)('the enclave signer of %s', (contract) => {
  const own = (method: string, ...args: unknown[]) => chain().send('owner', contract, method, ...args)
  const revert = (from: 'owner' | 'admin', method: string, ...args: unknown[]) =>
    chain().revert(from, contract, method, ...args)

  it('is rotated by the owner in two steps', async () => {
    await own('proposeEnclaveSigner', NEXT_SIGNER)
    expect(await chain().read(contract, 'enclaveSigner')).toBe(ENCLAVE_SIGNER)
    expect(await chain().read(contract, 'pendingEnclaveSigner')).toBe(NEXT_SIGNER)
    await own('confirmEnclaveSigner', NEXT_SIGNER)
    expect(await chain().read(contract, 'enclaveSigner')).toBe(NEXT_SIGNER)
    expect(await chain().read(contract, 'pendingEnclaveSigner')).toBe(ZERO)
  })

  it('changes for nobody else', async () => {
    expect(await revert('admin', 'proposeEnclaveSigner', NEXT_SIGNER)).toEqual(unauthorized())
    await own('proposeEnclaveSigner', NEXT_SIGNER)
    expect(await revert('admin', 'confirmEnclaveSigner', NEXT_SIGNER)).toEqual(unauthorized())
  })

  it('is only what was proposed last', async () => {
    const other = chain().account('dave')
    expect(await revert('owner', 'confirmEnclaveSigner', NEXT_SIGNER)).toEqual({
      name: 'SignerNotProposed',
      args: { pending: ZERO, got: NEXT_SIGNER },
    })
    await own('proposeEnclaveSigner', NEXT_SIGNER)
    await own('proposeEnclaveSigner', other)
    expect(await revert('owner', 'confirmEnclaveSigner', NEXT_SIGNER)).toEqual({
      name: 'SignerNotProposed',
      args: { pending: other, got: NEXT_SIGNER },
    })
    await own('proposeEnclaveSigner', ZERO)
    expect(await revert('owner', 'confirmEnclaveSigner', other)).toMatchObject({ name: 'SignerNotProposed' })
  })

  it('is never nobody', async () => {
    expect(await revert('owner', 'confirmEnclaveSigner', ZERO)).toEqual({ name: 'ZeroAddress', args: {} })
  })
})

describe('a rotation', () => {
  const rotate = async () => {
    await chain().send('owner', 'ledger', 'proposeEnclaveSigner', NEXT_SIGNER)
    await chain().send('owner', 'ledger', 'confirmEnclaveSigner', NEXT_SIGNER)
  }

  it('voids what the old key signed, and takes what the new one signs', async () => {
    const update = portfolioUpdate(chain().account('alice'))
    const byOld = signedCall(chain(), update)
    const byNew = signedCall(chain(), update, { key: NEXT_KEY, domain: domainOf(chain(), 'PortfolioUpdate') })
    expect(await chain().revert('relayer', ...byNew)).toEqual({
      name: 'InvalidSigner',
      args: { expected: ENCLAVE_SIGNER, got: NEXT_SIGNER },
    })
    await rotate()
    expect(await chain().revert('relayer', ...byOld)).toEqual({
      name: 'InvalidSigner',
      args: { expected: NEXT_SIGNER, got: ENCLAVE_SIGNER },
    })
    expect(await chain().revert('relayer', ...byNew)).toBeNull()
  })

  it('does not free the digests that were used', async () => {
    const update = portfolioUpdate(chain().account('alice'))
    await chain().send('relayer', ...signedCall(chain(), update))
    await rotate()
    const again = signedCall(chain(), update, { key: NEXT_KEY, domain: domainOf(chain(), 'PortfolioUpdate') })
    expect(await chain().revert('relayer', ...again)).toEqual({
      name: 'DigestUsed',
      args: { digest: digestOf(chain(), update) },
    })
  })
})

describe.each(['escrow', 'ledger', 'pool', 'token'] as const)('the owner of %s', (contract) => {
  it('hands over in two steps', async () => {
    const dave = chain().account('dave')
    expect(await chain().revert('admin', contract, 'transferOwnership', dave)).toEqual(unauthorized())
    await chain().send('owner', contract, 'transferOwnership', dave)
    expect(await chain().read(contract, 'owner')).toBe(chain().account('owner'))
    expect(await chain().read(contract, 'pendingOwner')).toBe(dave)
    expect(await chain().revert('admin', contract, 'acceptOwnership')).toEqual(unauthorized())
    await chain().send('dave', contract, 'acceptOwnership')
    expect(await chain().read(contract, 'owner')).toBe(dave)
  })

  it('cannot walk away', async () => {
    for (const role of ['owner', 'admin'] as const) {
      expect(await chain().revert(role, contract, 'renounceOwnership')).toEqual({
        name: 'RenounceDisabled',
        args: {},
      })
    }
  })
})
