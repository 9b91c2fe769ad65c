import { expect, it } from 'vitest'
import { ClientError, type PortfolioKey } from '../../src/client/index.js'
import { newestMade, takeKeyFile } from '../../web/orders/portfolioKeys.js'
import { useMemoryStorage } from './memoryStorage.js'

const ACCOUNT = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'

useMemoryStorage()

/** A client that holds a key once a file is imported, whose text says when the key was drawn. */
function clientOf(portfolio: () => Promise<null> = async () => null) {
  let key: PortfolioKey = {
    ...{ privateKey: Uint8Array.of(0x5a, 0x5a), publicKey: '0x02aa', drawnAt: 0, portfolioVersion: 0n },
  }
  return {
    getAccount: async () => ACCOUNT as typeof ACCOUNT,
    importKeys: async (text: string) => {
      key = { ...key, drawnAt: Number(text) }
    },
    unlock: async () => key,
    getPortfolio: portfolio,
  }
}

it('an older file does not make the browser forget that there is a newer key', async () => {
  await takeKeyFile(clientOf(), '1700')
  expect((await takeKeyFile(clientOf(), '1600')).drawnAt).toBe(1_600)
  expect(newestMade(ACCOUNT)).toBe(1_700)
})

it('a portfolio under a lost key is no obstacle to another one, but a wallet that refuses is', async () => {
  const sealed = clientOf(() => Promise.reject(new ClientError('portfolio-undecryptable', '')))
  expect((await takeKeyFile(sealed, '1700')).drawnAt).toBe(1_700)
  const refusing = clientOf(() => Promise.reject(new ClientError('signature-refused', '')))
  await expect(takeKeyFile(refusing, '1700')).rejects.toMatchObject({ code: 'signature-refused' })
})
