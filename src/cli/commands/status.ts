import type { Command, CommandContext } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { readArguments, readId, WALLET_OPTIONS } from '../input/arguments.js'
import { connectServer, connectWallet } from '../input/connection.js'
import type { Report } from '../terminal/terminal.js'
import { shownTime } from '../terminal/times.js'
import { orderReport } from './orderReport.js'

export const statusCommand: Command = {
  name: 'status',
  summary: "shows the platform's configuration, or an order's status",
  help: `status [options]
status <orderId> [--reason] [options]

  --reason   opens the sealed reason of a refusal with the wallet's key (--rpc and --key-file)

Without an orderId, shows the server's configuration and the market's hours. The exit code is 0 for every order state.`,
  usesWallet: true,
  async run(args, context) {
    const { values, positionals } = readArguments(args, {
      ...WALLET_OPTIONS,
      reason: { type: 'boolean', default: false },
    })
    const { reader } = connectServer(values, context.env)
    if (positionals.length === 0) {
      context.terminal.result(await platformReport(reader, context))
      return EXIT.done
    }
    const status = await reader.getOrder(readId(positionals, 'orderId'), context)
    const notice = values.reason ? await opened(status, values, context) : null
    context.terminal.result(orderReport(status, notice))
    return EXIT.done
  },
}

type Connection = ReturnType<typeof connectServer>

async function opened(
  status: Awaited<ReturnType<Connection['reader']['getOrder']>>,
  values: Parameters<typeof connectWallet>[0],
  { env }: CommandContext,
) {
  const connection = await connectWallet(values, env)
  try {
    return await connection.client.openNotice(status)
  } finally {
    connection.close()
  }
}

async function platformReport(reader: Connection['reader'], { signal }: CommandContext): Promise<Report> {
  const [health, key, clock] = await Promise.all([
    reader.getHealth({ signal }),
    reader.getEnclaveKey({ signal }),
    reader.getMarketClock({ signal }),
  ])
  const { version, chainId, contracts, symbols, relayer } = health
  return {
    json: { version, chainId, contracts, usdc: key.usdc, enclaveKey: key.publicKey, relayer, symbols, clock },
    blocks: [
      {
        kind: 'fields',
        fields: [
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
        ],
      },
    ],
  }
}
