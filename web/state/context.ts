import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Account } from './account.js'
import type { Store } from './store.js'

export const StoreContext = createContext<Store | null>(null)
/** The connected wallet's state, for the screens below it. */
export const AccountContext = createContext<Account | null>(null)

export function useStore(): Store {
  return present(useContext(StoreContext))
}

export function useAccount(): Account {
  return present(useContext(AccountContext))
}

function present<T>(value: T | null): T {
  if (value === null) throw new Error('a component stands outside of the state that it reads')
  return value
}
