import { describe, expect, it } from 'vitest'
import { switchChain, UnknownChainError } from '../../web/wallet/chain.js'
import { failureOf } from '../../web/words/failures.js'

const chain = { id: 8453, name: 'Base', rpcUrl: 'https://node.example', firstBlock: 0 }
const REFUSED = { code: 4001 }
const wrapped = (code: number) => ({ code: -32_603, data: { originalError: { code } } })

/** A wallet that answers these methods with these errors, and all others well. */
function walletOf(errors: Record<string, unknown>) {
  const asked: string[] = []
  const provider = {
    request: async ({ method }: { method: string }) => {
      asked.push(method)
      if (method in errors) throw errors[method]
      return null
    },
  }
  return { asked, wallet: { id: 'a', name: 'A wallet', icon: null, demo: null, provider } }
}

describe('a wallet on another chain', () => {
  it.each([
    ['as it is', { code: 4902 }],
    ['inside of another error', wrapped(4902)],
  ])('learns of one that it does not know, when it says so %s', async (_how, error) => {
    const { asked, wallet } = walletOf({ wallet_switchEthereumChain: error })
    await switchChain(wallet, { chain })
    expect(asked).toEqual(['wallet_switchEthereumChain', 'wallet_addEthereumChain'])
  })

  it('is to be told by its person when the page has no node to name', async () => {
    const { asked, wallet } = walletOf({ wallet_switchEthereumChain: wrapped(4902) })
    const failure: unknown = await switchChain(wallet, { chain: { ...chain, rpcUrl: null } }).catch((e) => e)
    expect(failure).toBeInstanceOf(UnknownChainError)
    expect(failureOf(failure)).toEqual({
      title: 'Your wallet does not know this chain',
      advice: 'Add Base, chain id 8453, among the networks in your wallet, and try again.',
    })
    expect(asked).toEqual(['wallet_switchEthereumChain'])
  })

  it('is to be told by its person when it takes no chain from the page', async () => {
    const { wallet } = walletOf({
      wallet_switchEthereumChain: { code: 4902 },
      wallet_addEthereumChain: { code: -32_602 },
    })
    await expect(switchChain(wallet, { chain })).rejects.toBeInstanceOf(UnknownChainError)
  })

  it.each([
    ['to the change', { wallet_switchEthereumChain: REFUSED }],
    ['to the new chain', { wallet_switchEthereumChain: { code: 4902 }, wallet_addEthereumChain: REFUSED }],
    ['inside of another error', { wallet_switchEthereumChain: wrapped(4001) }],
  ])('the refusal of the wallet’s person %s is believed', async (_to, errors) => {
    const failure: unknown = await switchChain(walletOf(errors).wallet, { chain }).catch((error) => error)
    expect(failureOf(failure).title).toBe('You declined in your wallet')
  })
})
