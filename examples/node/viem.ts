import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { buy, hex } from './trade.ts'

const account = privateKeyToAccount(hex('PRIVATE_KEY'))
await buy(createWalletClient({ account, transport: http(process.env.RPC_URL) }), 'AAPL', '250')
