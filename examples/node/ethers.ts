import { JsonRpcProvider, Wallet } from 'ethers'
import { buy, hex } from './trade.ts'

const provider = new JsonRpcProvider(process.env.RPC_URL)
await buy(new Wallet(hex('PRIVATE_KEY'), provider), 'AAPL', '250')
provider.destroy()
