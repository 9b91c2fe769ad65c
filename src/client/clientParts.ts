// What the package's other entries need of a client. A bundle that imports none of them has none of their code.
import type { ActionList } from './actionList.js'
import type { CallOptions, Http } from './http.js'
import type { Keyring } from './keyring.js'
import type { Platform, PlatformContracts } from './platform.js'
import type { RetryTiming } from './retry.js'
import type { Wallet } from './wallet.js'

/** What changes of the platform need: an operator has no more. */
interface OperatorParts {
  readonly within: (options?: CallOptions) => { readonly wallet: Wallet }
  readonly contracts: (options?: CallOptions) => Promise<PlatformContracts>
}

export interface ClientParts extends OperatorParts {
  /** Wallet and keys for one call, which ends when its signal aborts. */
  readonly within: (options?: CallOptions) => { readonly wallet: Wallet; readonly keys: Keyring }
  readonly platform: (options?: CallOptions) => Promise<Platform>
  readonly actionList: ActionList
  readonly http: Http
  readonly timing: RetryTiming
}

/** All copies of the package share the symbol: a bundler may give each entry a copy. The public type does not name it. */
const PARTS = Symbol.for('confidential-trading-client.parts')

export function withParts<C extends object>(client: C, parts: ClientParts | OperatorParts): C {
  return Object.defineProperty(client, PARTS, { value: parts })
}

/** @throws TypeError for an object that neither `createClient` nor `createOperator` has made */
export function partsOf(client: object): ClientParts {
  const parts: ClientParts | undefined = (client as { [PARTS]?: ClientParts })[PARTS]
  if (parts === undefined) throw new TypeError('expected a client of createClient')
  return parts
}
