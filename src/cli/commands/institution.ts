import type { Client, Hex } from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { nameToBytes32 } from '../../protocol/identifiers.js'
import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { parsed, readArguments, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'

type Act = (client: Client) => Promise<{ readonly txHash: Hex }>

const ACTS: ReadonlyMap<string, (subject: string) => Act> = new Map([
  [
    'found',
    (name: string): Act =>
      (client) =>
        client.foundInstitution(name),
  ],
  ['invite', (wallet: string): Act => member(wallet, (client, address) => client.inviteMember(address))],
  ['remove', (wallet: string): Act => member(wallet, (client, address) => client.removeMember(address))],
  ['join', (name: string): Act => joining(name)],
])

export const institutionCommand: Command = {
  name: 'institution',
  summary: 'founds an institution, joins one, or invites and removes its members',
  help: `institution found <name> [options]
institution join <name> [options]
institution invite <wallet> [options]
institution remove <wallet> [options]

The wallet that founds an institution becomes its admin once the platform admits it. The admin invites wallets, and each
becomes a member when it joins. Every act is one transaction of the wallet, which needs ether for it.`,
  usesWallet: true,
  async run(args, { env, terminal }) {
    const { values, positionals } = readArguments(args, WALLET_OPTIONS)
    const [name = '', subject, ...others] = positionals
    const act = ACTS.get(name)
    if (act === undefined || subject === undefined || others.length > 0) {
      throw new UsageError('expected found or join with a name, or invite or remove with a wallet')
    }
    const send = act(subject)
    const { client, close } = await connectWallet(values, env)
    try {
      const { txHash } = await send(client)
      terminal.result({ json: { txHash }, blocks: [{ kind: 'fields', fields: [['transaction', txHash]] }] })
      return EXIT.done
    } finally {
      close()
    }
  },
}

function member(
  wallet: string,
  act: (client: Client, address: Hex) => Promise<{ readonly txHash: Hex }>,
): Act {
  const address = parsed<Hex>(addressSchema, wallet, 'the wallet')
  return (client) => act(client, address)
}

function joining(name: string): Act {
  try {
    const orgId = nameToBytes32(name)
    return (client) => client.joinInstitution(orgId)
  } catch {
    throw new UsageError('the name: expected 1 to 31 printable ASCII characters')
  }
}
