import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { readArguments, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'
import { shownTime } from '../terminal/times.js'

export const leaveCommand: Command = {
  name: 'leave',
  summary: "leaves the wallet's institution, by itself after some days",
  help: `leave --yes [options]

Leaving takes effect after the deployment's leave delay, and cannot be postponed or undone. From now on the wallet cannot
buy; until it has left, the rulebook still binds it. It can sell and withdraw throughout.

  --yes   required: leaving cannot be undone`,
  usesWallet: true,
  async run(args, { env, terminal }) {
    const { values, positionals } = readArguments(args, {
      ...WALLET_OPTIONS,
      yes: { type: 'boolean', default: false },
    })
    if (positionals.length > 0) throw new UsageError('leave takes no argument')
    if (!values.yes) throw new UsageError('leaving cannot be undone: give --yes to leave')
    const { client, close } = await connectWallet(values, env)
    try {
      const { txHash } = await client.leaveInstitution()
      const leavingAt = await client.getLeavingAt()
      const at = leavingAt === null ? null : new Date(leavingAt * 1_000).toISOString()
      terminal.result({
        json: { txHash, leavingAt },
        blocks: [
          {
            kind: 'fields',
            fields: [
              ['transaction', txHash],
              ['leaves at', at === null ? 'left' : shownTime(at)],
            ],
          },
        ],
      })
      return EXIT.done
    } finally {
      close()
    }
  },
}
