// A wallet that is a contract: alice's belongs to bob, who signs twice for it.
import { concat, Wallet } from 'ethers'
import { expect, it } from 'vitest'
import { makeContractWallet } from '../contracts/fixtures/contractWallet.js'
import { walletOf } from './clientSetting.js'
import { usePlacing } from './placing.js'

const { chain, posted, sent, setting } = await usePlacing()

class ContractWallet extends Wallet {
  readonly owner = walletOf(chain(), 'bob')

  override async signTypedData(...args: Parameters<Wallet['signTypedData']>): Promise<string> {
    const once = await this.owner.signTypedData(...args)
    return concat([once, once])
  }
}

/** @param owner whose two signatures the wallet takes */
async function placing(owner: 'bob' | 'carol') {
  await makeContractWallet(chain(), 'alice', owner)
  const signer = new ContractWallet(walletOf(chain(), 'alice').privateKey, chain().provider)
  return setting({ wallet: signer })
}

it('a contract wallet orders by its own transactions, under a drawn key, with the signature that it takes', async () => {
  const { client, buy } = await placing('bob')
  await expect(client.placeOrder(buy)).rejects.toMatchObject({ code: 'contract-wallet' })
  await client.importKeys(await client.drawKey())
  const { order } = await client.placeOrder(buy)
  expect(order.intent.sig).toHaveLength(2 + 2 * 130)
  expect(posted()).toHaveLength(1)
})

it('a contract wallet that would refuse its own signature is told before it sends anything', async () => {
  const { client, buy } = await placing('carol')
  const before = await sent()
  await client.importKeys(await client.drawKey())
  await expect(client.placeOrder(buy)).rejects.toMatchObject({ code: 'signature-invalid' })
  expect([await sent(), posted()]).toEqual([before, []])
})

it('a contract wallet is not offered that the platform opens its orders', async () => {
  const { client, buy } = await placing('bob')
  await client.importKeys(await client.drawKey())
  expect(await client.canSponsor()).toBe(false)
  const placed = client.placeOrder(buy, { sponsored: true })
  await expect(placed).rejects.toMatchObject({ code: 'contract-wallet' })
})
