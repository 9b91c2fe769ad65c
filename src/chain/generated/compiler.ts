// Generated from contracts/ by `npm run contracts`. Do not edit.
export const compiler = {
  "version": "0.8.37+commit.f401782d",
  "settings": {
    "optimizer": {
      "enabled": true,
      "runs": 1000
    },
    "evmVersion": "cancun",
    "metadata": {
      "bytecodeHash": "none"
    }
  }
} as const
