// Wallets that are contracts (ERC-1271): alice's belongs to bob, whose key signs twice for it.
import { AbiCoder, concat } from 'ethers'
import { expect, it } from 'vitest'
import { bytesToHex, type Hex, hexToBytes } from '../../src/protocol/hex.js'
import { makeContractWallet, signTwice } from '../contracts/fixtures/contractWallet.js'
import { keyOf } from '../support/openings.js'
import { cancelOf, rulesFor, sealRulebook, type Wish } from './support/parties.js'
import { buy } from './support/scenarios.js'
import { useWorld } from './support/world.js'

const world = useWorld()

const byOwner = (digest: Hex): Hex => signTwice(digest, keyOf(world().chain, 'bob'))
const WRAPPED: Hex = `0x${'6492'.repeat(16)}`
/** As a wallet signs that may not be deployed yet (ERC-6492). */
function wrapped(digest: Hex): Hex {
  const factory = world().chain.account('dave')
  const fields = AbiCoder.defaultAbiCoder().encode(
    ['address', 'bytes', 'bytes'],
    [factory, '0x', byOwner(digest)],
  )
  return bytesToHex(hexToBytes(`0x${concat([fields, WRAPPED]).slice(2)}`))
}

type Signer = NonNullable<Wish['signedBy']>

async function runs(signedBy: Signer, owner: 'bob' | null = 'bob') {
  const order = await world().open({ ...buy(1_000), signedBy })
  await makeContractWallet(world().chain, 'alice', owner)
  return world().run(order)
}

it('an order of a contract wallet settles by the signature that it takes, also within one that says how it is deployed', async () => {
  expect(await runs(byOwner)).toMatchObject({ outcome: 'settled' })
  await makeContractWallet(world().chain, 'alice', 'bob')
  const order = await world().open({ ...buy(1_000), signedBy: wrapped })
  expect(await world().run(order)).toMatchObject({ outcome: 'settled' })
})

/** Who signs how, and the wallet's owner. */
const REFUSED: Record<string, () => [signer: Signer, owner: 'bob' | null]> = {
  'of another owner': () => [(digest) => signTwice(digest, keyOf(world().chain, 'carol')), 'bob'],
  'of its owner, given once': () => ['bob', 'bob'],
  'that only says that it is wrapped': () => [() => WRAPPED, 'bob'],
  'at which it burns all gas': () => [byOwner, null],
}

it.each(Object.keys(REFUSED))(
  'an order of a contract wallet is refunded without a notice for a signature %s',
  async (how) => {
    const result = await runs(...(REFUSED[how]?.() ?? ['bob', 'bob']))
    expect(result).toMatchObject({ outcome: 'refunded' })
    expect(result.notice).toBeUndefined()
  },
)

it('a contract wallet cancels its order by its owner’s signature, and by no other', async () => {
  const order = await world().live(buy(1_000))
  await makeContractWallet(world().chain, 'alice', 'bob')
  const cancelled = (signedBy: Signer) => cancelOf(world().chain, order, signedBy)
  expect(await world().run(order, { cancel: await cancelled('carol') })).toMatchObject({ outcome: 'placed' })
  expect(await world().run(order, { cancel: await cancelled(byOwner) })).toMatchObject({
    outcome: 'refunded',
  })
})

it('a contract wallet that is an admin publishes a rulebook by its owner’s signature, and by no other', async () => {
  const { chain } = world()
  await makeContractWallet(chain, 'admin', 'bob')
  const policy = rulesFor(chain, { maxOrderNotional: 5_000_000_000n })
  const sealed = (signedBy: Signer) => sealRulebook(chain, policy, 2, {}, signedBy)
  expect(await world().policy(await sealed('bob'))).toMatchObject({ code: 'invalid-signature' })
  expect(await world().policy(await sealed(byOwner))).toMatchObject({ outcome: 'accepted', version: 2 })
})
