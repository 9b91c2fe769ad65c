import type { Hex, Reader } from '../../client/index.js'
import { anId } from '../../terminal/arguments.js'
import { fields, shownTime } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand, CommandContext } from '../context.js'
import { connectServer, withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'
import { orderReport } from './orderReport.js'

const ABOUT = `Without an orderId, shows the server's configuration and the market's hours. The exit code is 0 for every order state.`

export const addStatus: AddCommand = (root, context) => {
  addWalletCommand(root, 'status', "shows the platform's configuration, or an order's status", ABOUT)
    .argument('[orderId]', "the order's id", anId)
    .option('--reason', "opens the sealed reason of a refusal with the wallet's key (--rpc and --key-file)")
    .action(async (orderId: Hex | undefined, options: WalletOptions & { reason?: true }) => {
      const { env, terminal } = context
      const reader = connectServer(options, env)
      if (orderId === undefined) {
        terminal.result(await platformReport(reader, context))
        return
      }
      const status = await reader.getOrder(orderId, context)
      const notice = options.reason
        ? await withWallet(options, env, (client) => client.openNotice(status))
        : null
      terminal.result(orderReport(status, notice))
    })
}

async function platformReport(reader: Reader, { signal }: CommandContext): Promise<Report> {
  const [health, key, clock] = await Promise.all([
    reader.getHealth({ signal }),
    reader.getEnclaveKey({ signal }),
    reader.getMarketClock({ signal }),
  ])
  const { version, chainId, contracts, symbols, relayer } = health
  return {
    json: { version, chainId, contracts, usdc: key.usdc, enclaveKey: key.publicKey, relayer, symbols, clock },
    blocks: [
      fields([
        ['version', version],
        ['chain', String(chainId)],
        ...Object.entries(contracts),
        ['usdc', key.usdc],
        ['enclave key', key.publicKey],
        ['relayer', relayer],
        ['symbols', symbols.join(' ')],
        [
          'market',
          clock.isOpen
            ? `open until ${shownTime(clock.nextClose)}`
            : `closed until ${shownTime(clock.nextOpen)}`,
        ],
      ]),
    ],
  }
}
