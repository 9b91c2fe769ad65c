import { getPublicKey, utils } from '@noble/secp256k1'
import { expect, it } from 'vitest'
import { createShareCollector, deriveKeys, drawMaster, shareMaster } from '../../../src/enclave/keys/born.js'
import { bytesToHex, type Hex, hexToBytes } from '../../../src/protocol/hex.js'
import { masterDigest, openShare } from '../../../src/protocol/masterShare.js'

const domain = { chainId: 31337, escrow: '0x5FbDB2315678afecb367f032d93F642f64180aa3' } as const
const MEASUREMENT: Hex = `0x${'07'.repeat(32)}`

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

it('a program has the same keys after each start, and another program has others', () => {
  const master = hexToBytes(`0x${'e5'.repeat(32)}`)
  expect(deriveKeys(master, MEASUREMENT)).toEqual({
    intent: '0x389fe2c8451aa28d992eb185db0f9d0880458956710cf2489ecafcf48f918dff',
    signing: '0xdfe65a1932119530547fd52a43339a001b0cd35fc8cde9c4c6061265f30eb6cc',
  })
  const { intent, signing } = deriveKeys(master, `0x${'08'.repeat(32)}`)
  expect(Object.values(deriveKeys(master, MEASUREMENT))).not.toEqual(
    expect.arrayContaining([intent, signing]),
  )
})
