import { beforeEach, expect, it } from 'vitest'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useApi } from '../support/apiStandIn.js'
import { useChain } from '../support/chain.js'
import { answerAsServer, clearForTrading, clientOf, WALLET_USDC } from './clientSetting.js'

const chain = useChain(clearForTrading)
const api = await useApi()
beforeEach(() => answerAsServer(api, chain()))

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
