import { expect, it } from 'vitest'
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

const unknown = { wallet_switchEthereumChain: { code: 4902 } }

it.each([
  ['as it is', unknown],
  ['inside of another error', { wallet_switchEthereumChain: wrapped(4902) }],
])('a wallet learns of a chain that it does not know, when it says so %s', async (_how, errors) => {
  const { asked, wallet } = walletOf(errors)
  await switchChain(wallet, { chain })
  expect(asked).toEqual(['wallet_switchEthereumChain', 'wallet_addEthereumChain'])
})

it.each([
  ['the page has no node to name', unknown, { ...chain, rpcUrl: null }],
  ['it takes none from the page', { ...unknown, wallet_addEthereumChain: { code: -32_602 } }, chain],
])('a wallet is to be told of a chain by its person when %s', async (_when, errors, given) => {
  const failure: unknown = await switchChain(walletOf(errors).wallet, { chain: given }).catch((e) => e)
  expect(failure).toBeInstanceOf(UnknownChainError)
  expect(failureOf(failure)).toEqual({
    title: 'Your wallet does not know this chain',
    advice: 'Add Base, chain id 8453, among the networks in your wallet, and try again.',
  })
})

it.each([
  ['to the change', { wallet_switchEthereumChain: REFUSED }],
  ['to the new chain', { ...unknown, wallet_addEthereumChain: REFUSED }],
  ['inside of another error', { wallet_switchEthereumChain: wrapped(4001) }],
])('the refusal of the wallet’s person %s is believed', async (_to, errors) => {
  const failure: unknown = await switchChain(walletOf(errors).wallet, { chain }).catch((error) => error)
  expect(failureOf(failure).title).toBe('You declined in your wallet')
})
