import { notionalOf } from '../../src/protocol/units.js'
import { priceOf } from '../orders/ticketCheck.js'
import { Card } from '../parts/card.js'
import { CopyAddress } from '../parts/copyAddress.js'
import { useAccount, useStore } from '../state/context.js'
import { money, shares } from '../words/format.js'

/** The shares in the wallet itself, which were withdrawn; hidden if there are none. */
export function WalletSharesCard({ onDeposit }: { onDeposit: (symbol: string) => void }) {
  const { market } = useStore()
  const held = useAccount().walletShares.value ?? []
  if (held.length === 0) return null
  return (
    <Card title="Shares in your wallet" aside={<span class="muted">visible on the chain</span>}>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Token</th>
              <th scope="col" class="number">
                Shares
              </th>
              <th scope="col">
                <span class="visually-hidden">Deposit</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {held.map(({ symbol, token, balance }) => {
              const price = market.value === null ? null : priceOf(market.value, symbol)
              return (
                <tr key={symbol}>
                  <th scope="row">
                    {symbol}
                    <div>
                      <CopyAddress address={token} of={`of the ${symbol} token`} />
                    </div>
                  </th>
                  <td class="number">
                    <span data-wallet-shares={symbol}>{shares(balance)}</span>
                    <small class="below">
                      {price === null ? 'no price' : `${money(notionalOf(balance, price, 'down'))} USDC`}
                    </small>
                  </td>
                  <td class="number">
                    <button type="button" class="quiet" onClick={() => onDeposit(symbol)}>
                      Deposit<span class="visually-hidden"> the wallet’s {symbol}</span>
                    </button>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
