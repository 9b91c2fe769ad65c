import { Wallet } from 'ethers'
import { expect, test } from 'vitest'
import { intentDomain } from '../../../src/protocol/intentDomain.js'
import { envelopeHash, sealedRulebookTypes } from '../../../src/protocol/sealedRulebook.js'
import { createAuthorCheck } from '../../../src/server/intake/policy.js'
import { createHeadReads } from '../../../src/server/reads/chainHead.js'
import { bytes32, ORG } from '../../support/institution.js'
import { sealOrder } from '../../support/intakeServer.js'

const domain = { chainId: 31_337, escrow: `0x${'0e'.repeat(20)}` } as const
const admin = new Wallet(`0x${'0a'.repeat(32)}`)
const stranger = new Wallet(`0x${'0b'.repeat(32)}`)

/** A check whose chain has the admin, and counts how often it is asked. */
function setUp() {
  const head = { number: 1, hash: bytes32('block 1') }
  let asked = 0
  const check = createAuthorCheck({
    domain,
    adminOf: createHeadReads({
      head: { current: async () => head },
      async read() {
        asked++
        return `0x${admin.address.slice(2)}` as const
      },
    }),
  })
  async function offer(wallet: Wallet, content: string) {
    const envelope = await sealOrder(content)
    const message = { orgId: ORG, envelopeHash: envelopeHash(envelope) }
    const sig = await wallet.signTypedData(intentDomain(domain), sealedRulebookTypes, message)
    return check(envelope, { orgId: ORG, sig: `0x${sig.slice(2)}` })
  }
  return { offer, head, asked: () => asked }
}

test('signatures of one institution cost one question to the chain in a block, right or wrong', async () => {
  const { offer, head, asked } = setUp()
  for (let n = 0; n < 20; n++) {
    await expect(offer(stranger, `junk ${n}`)).rejects.toMatchObject({
      reason: { code: 'policy-rejected', reason: 'not-admin' },
    })
  }
  await offer(admin, 'a rulebook')
  expect(asked()).toBe(1)
  head.hash = bytes32('block 2')
  await offer(admin, 'the next one')
  expect(asked()).toBe(2)
})
