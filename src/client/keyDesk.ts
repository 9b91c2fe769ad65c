// Makes the keys of an account, and opens what is sealed to them: its portfolio and its notices. It is loaded with the first of these calls: who
// looks at prices and orders needs none of it.
import type { OrderStatus } from '../protocol/api.js'
import type { Notice } from '../protocol/notice.js'
import type { ClientParts } from './clientParts.js'
import type { CallOptions } from './http.js'
import { drawnKey, fileOf, keysIn } from './keyFile.js'
import type { KeyMaker } from './keyring.js'
import { openNotice } from './notice.js'
import { type OpenedPortfolio, opensPortfolio, readPortfolio, readVersion } from './portfolio.js'
import { derivePortfolioKey } from './portfolioKey.js'
import type { Wallet } from './wallet.js'

interface KeyDeskDeps extends Pick<ClientParts, 'within' | 'contracts' | 'actionList'> {
  /** The client's own: keys are made for all callers, and end with no call. */
  readonly wallet: Wallet
}

/** What makes the keys, and methods of a client by their names there. */
export function createKeyDesk({ wallet, within, contracts, actionList }: KeyDeskDeps) {
  const portfolioVersion = async () => readVersion(wallet, await contracts())
  const maker: KeyMaker = {
    portfolioVersion,
    derive: () => derivePortfolioKey(wallet, (key) => opensPortfolio(wallet, contracts, key)),
    async draw(held) {
      const [account, version] = await Promise.all([wallet.account(), portfolioVersion()])
      return fileOf(account, [drawnKey(version, held[0]), ...held])
    },
    keysIn: (text) => keysIn(text, wallet),
  }
  return {
    ...maker,
    openNotice: (
      status: Pick<OrderStatus, 'orderId' | 'notice'>,
      call?: CallOptions,
    ): Promise<Notice | null> => openNotice(status, within(call).keys),
    getPortfolio: async (call?: CallOptions): Promise<OpenedPortfolio | null> =>
      readPortfolio({ ...within(call), contracts: await contracts(call), actionList }),
  }
}
