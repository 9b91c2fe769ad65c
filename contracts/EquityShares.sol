// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {
    ERC20PermitUpgradeable
} from "@openzeppelin/contracts-upgradeable/token/ERC20/extensions/ERC20PermitUpgradeable.sol";

import {EquityToken} from "./EquityToken.sol";
import {Sweepable} from "./Sweepable.sol";

/**
 * @title The shares of one equity, as wallets show and hold them: ERC-20 with 9 decimals, and EIP-2612.
 *
 * @dev Each equity has a clone (ERC-1167) of one implementation, made by {EquityToken}. The symbol stands behind the clone's
 * code, so that there is nothing to initialize. {EquityToken} has the flags, and decides about every transfer.
 *
 * {canSend}, {canReceive}, {canTransfer} and {getFrozenTokens} are those of ERC-7943. Its other functions are left out: no one
 * can move a holder's shares without an allowance, and a freeze is for a whole holding.
 */
contract EquityShares is ERC20PermitUpgradeable, Sweepable {
    /// @notice The contract that has the flags, and alone mints and burns.
    EquityToken public immutable token;

    /// @notice `caller` is not {token}.
    error NotToken(address expected, address caller);

    constructor(EquityToken token_, IERC20 usdc_, address pool_) Sweepable(usdc_, pool_) {
        token = token_;
    }

    modifier onlyToken() {
        require(msg.sender == address(token), NotToken(address(token), msg.sender));
        _;
    }

    /**
     * @notice Mints shares to the pool.
     *
     * Requirements:
     * - the caller is {token}.
     */
    function mint(uint256 amount) external onlyToken {
        _mint(pool, amount);
    }

    /**
     * @notice Burns shares of the pool.
     *
     * Requirements:
     * - the caller is {token};
     * - the pool holds `amount`.
     */
    function burn(uint256 amount) external onlyToken {
        _burn(pool, amount);
    }

    /// @notice The symbol, as the other contracts name the equity.
    function equity() public view returns (bytes32) {
        return bytes32(Clones.fetchCloneArgs(address(this)));
    }

    /// @notice The symbol as text: an equity's only name here.
    function name() public view override returns (string memory) {
        bytes32 word = equity();
        uint256 length = 0;
        while (length < 32 && word[length] != 0) length++;
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = word[i];
        return string(text);
    }

    /// @notice The symbol as text.
    function symbol() public view override returns (string memory) {
        return name();
    }

    /// @notice Shares have 9 decimals.
    function decimals() public pure override returns (uint8) {
        return 9;
    }

    /// @notice Whether the flags let the account send shares (ERC-7943).
    function canSend(address account) external view returns (bool) {
        return token.isCleared(equity(), account);
    }

    /// @notice Whether the flags let the account receive shares (ERC-7943).
    function canReceive(address account) external view returns (bool) {
        return token.isCleared(equity(), account);
    }

    /// @notice Whether `from` could transfer `amount` to `to` now (ERC-7943).
    function canTransfer(address from, address to, uint256 amount) external view returns (bool) {
        if (from == address(0) || to == address(0) || balanceOf(from) < amount) return false;
        try token.requireTransferable(equity(), from, from, to) {
            return true;
        } catch {
            return false;
        }
    }

    /// @notice The most that there can be while the account's holding is frozen, else 0 (ERC-7943).
    function getFrozenTokens(address account) external view returns (uint256) {
        return token.isFrozen(equity(), account) ? type(uint256).max : 0;
    }

    /// @dev Every transfer, mint and burn passes here.
    function _update(address from, address to, uint256 amount) internal override {
        if (from != address(0) && to != address(0)) token.requireTransferable(equity(), msg.sender, from, to);
        super._update(from, to, amount);
    }

    function _EIP712Name() internal view override returns (string memory) {
        return name();
    }

    function _EIP712Version() internal pure override returns (string memory) {
        return "1";
    }
}
