import { getPublicKey, utils } from '@noble/secp256k1'
import { expect, it } from 'vitest'
import { createShareCollector, deriveKeys, drawMaster, shareMaster } from '../../../src/enclave/keys/born.js'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { masterDigest, openShare } from '../../../src/protocol/masterShare.js'

const domain = { chainId: 31337, escrow: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } as const
const bytes32 = (digits: string): Hex => `0x${digits.repeat(32)}`
const PROGRAM = { measurement: bytes32('07'), config: bytes32('0c') }

function drawHolder() {
  const privateKey = utils.randomSecretKey()
  return { privateKey, publicKey: bytesToHex(getPublicKey(privateKey, true)) }
}

/** Five holders of a master key, of whom any three make it, each with her opened share. */
async function holdersOf(master: Uint8Array<ArrayBuffer>) {
  const holders = Array.from({ length: 5 }, drawHolder)
  const keys = holders.map(({ publicKey }) => publicKey)
  const sealed = await shareMaster(master, keys, { threshold: 3, domain })
  return Promise.all(
    sealed.map(async (envelope, index) => {
      const { publicKey, privateKey } = holders[index] ?? expect.fail('no holder')
      return { publicKey, share: await openShare(envelope, privateKey, ['share-of-holder', domain]) }
    }),
  )
}

it('any three of five holders make the master key again, and two of them nothing', async () => {
  const master = drawMaster()
  const holders = await holdersOf(master)
  for (let first = 0; first < 3; first++) {
    const collector = createShareCollector()
    const given = []
    for (const { publicKey, share } of holders.slice(first, first + 3))
      given.push(await collector.add(publicKey, share))
    expect(given).toEqual([undefined, undefined, master])
  }
})

it('a false share, and a share given twice, hold up nobody while the others have enough', async () => {
  const master = drawMaster()
  const [one, two, three, four, five] = await holdersOf(master)
  if (!one || !two || !three || !four || !five) return expect.fail('five holders')
  const collector = createShareCollector()
  const other = await holdersOf(drawMaster())
  const false1 = { ...(other[0]?.share ?? one.share), master: masterDigest(master) }
  expect(await collector.add(one.publicKey, false1)).toBeUndefined()
  expect(await collector.add(two.publicKey, two.share)).toBeUndefined()
  expect(await collector.add(three.publicKey, two.share)).toBeUndefined()
  expect(await collector.add(four.publicKey, four.share)).toBeUndefined()
  expect(await collector.add(five.publicKey, five.share)).toEqual(master)
})

it('a share opens for its holder alone, for its deployment and its purpose', async () => {
  const holder = drawHolder()
  const [sealed] = await shareMaster(drawMaster(), [holder.publicKey, drawHolder().publicKey], {
    threshold: 2,
    domain,
  })
  if (sealed === undefined) return expect.fail('no share')
  const elsewhere = { ...domain, chainId: 1 }
  for (const [key, ...place] of [
    [drawHolder().privateKey, 'share-of-holder', domain],
    [holder.privateKey, 'share-of-holder', elsewhere],
    [holder.privateKey, 'share-for-enclave', domain],
  ] as const) {
    await expect(openShare(sealed, key, place)).rejects.toMatchObject({ code: 'undecryptable' })
  }
})

it('a program has the same keys after each start, and others with another measurement or configuration', () => {
  const master = hexToBytes(bytes32('e5'))
  const own = deriveKeys(master, PROGRAM)
  expect(own).toEqual({
    intent: '0xe13116fe6a9e66561275331a83b07e5de3433f461cf535b1115eb9b0b73ec369',
    signing: '0xd427e3247f8006c00b5f864cd9bb93f07ae71d902c411f7dfae11944f364b20a',
  })
  const programs = [
    { ...PROGRAM, measurement: bytes32('08') },
    { ...PROGRAM, config: bytes32('0d') },
  ]
  const all = [own, ...programs.map((program) => deriveKeys(master, program))].flatMap(Object.values)
  expect(new Set(all).size).toBe(6)
})
