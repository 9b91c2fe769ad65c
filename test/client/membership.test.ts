import { beforeEach, expect, it } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useApi } from '../support/apiStandIn.js'
import { TEST_DELAYS, useChain } from '../support/chain.js'
import { answerAsServer, clearForTrading, clientOf, ORG_ID, WALLET_USDC } from './clientSetting.js'

const chain = useChain(clearForTrading)
const api = await useApi()
beforeEach(() => answerAsServer(api, chain()))

const orgOf = (role: 'carol' | 'alice') => chain().read('registry', 'orgOf', chain().account(role))
const NONE = `0x${'0'.repeat(64)}`

it('membership founds an institution, whose admin the wallet is once the platform admits it', async () => {
  await clientOf(chain(), api, 'carol').foundInstitution('Carol & Co.')
  const orgId = nameToBytes32('Carol & Co.')
  expect(await chain().read('registry', 'adminOf', orgId)).toBe(ZERO_ADDRESS)
  await chain().send('owner', 'registry', 'setAdmitted', orgId, chain().account('carol'), true)
  expect(await chain().read('registry', 'adminOf', orgId)).toBe(chain().account('carol'))
})

it('membership is granted by the platform’s owner alone, who admits institutions and verifies wallets', async () => {
  await clientOf(chain(), api, 'dave').foundInstitution('Dave & Co.')
  const orgId = nameToBytes32('Dave & Co.')
  const dave = chain().account('dave')
  await expect(clientOf(chain(), api, 'dave').verifyWallet(dave)).rejects.toMatchObject({
    name: 'ContractError',
    method: 'setKyc',
    code: 'NotOwner',
  })
  const owner = clientOf(chain(), api, 'owner')
  await owner.verifyWallet(dave)
  await owner.admitInstitution(orgId, dave)
  expect(await chain().read('token', 'isKyc', dave)).toBe(true)
  expect(await chain().read('registry', 'adminOf', orgId)).toBe(dave)
})

it('membership leaves an institution: the wallet buys nothing from then on, and is out after the delay', async () => {
  const alice = clientOf(chain(), api, 'alice')
  await alice.leaveInstitution()
  const now = await chain().now()
  const leavingAt = now + TEST_DELAYS.leave
  expect(await alice.getLeavingAt()).toBe(leavingAt)
  const order = { symbol: 'AAPL', maxSpend: 1_000_000n, deadline: now + 3_600 }
  await expect(alice.placeOrder({ ...order, side: 'BUY' })).rejects.toMatchObject({
    code: 'Leaving',
    args: { wallet: chain().account('alice'), effectiveAt: String(leavingAt) },
  })
  await alice.placeOrder({ ...order, side: 'SELL' })
  await expect(alice.leaveInstitution()).rejects.toMatchObject({ code: 'Leaving' })
  expect(await orgOf('alice')).toBe(ORG_ID)
  await chain().mineAt(leavingAt)
  expect(await orgOf('alice')).toBe(NONE)
  expect(await alice.getLeavingAt()).toBeNull()
})

it('membership is not left by an admin, who hands over first', async () => {
  await expect(clientOf(chain(), api, 'admin').leaveInstitution()).rejects.toMatchObject({
    code: 'AdminCannotLeave',
    args: { orgId: ORG_ID },
  })
})

it('membership invites a wallet, which joins, and removes it', async () => {
  const [admin, carol] = [clientOf(chain(), api, 'admin'), clientOf(chain(), api, 'carol')]
  await admin.inviteMember(chain().account('carol'))
  expect(await orgOf('carol')).toBe(NONE)
  await carol.joinInstitution(ORG_ID)
  expect(await orgOf('carol')).toBe(ORG_ID)
  await admin.removeMember(chain().account('carol'))
  expect(await orgOf('carol')).toBe(NONE)
})

it.each(['', ' padded', 'a name of more than 31 letters..', 'Bücher'])(
  'membership has no name like "%s"',
  async (name) => {
    const carol = clientOf(chain(), api, 'carol')
    await expect(carol.foundInstitution(name)).rejects.toMatchObject({
      name: 'ClientError',
      code: 'invalid-name',
    })
  },
)

it('funds are the wallet’s USDC, and what the escrow may take of it', async () => {
  const alice = clientOf(chain(), api, 'alice')
  expect(await alice.getFunds()).toEqual({ balance: WALLET_USDC, allowance: 0n })
  await chain().send('alice', 'usdc', 'approve', chain().addressOf('escrow'), 7n)
  expect(await alice.getFunds()).toEqual({ balance: WALLET_USDC, allowance: 7n })
})
