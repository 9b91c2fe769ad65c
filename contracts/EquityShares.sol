// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ERC20Upgradeable} from "@openzeppelin/contracts-upgradeable/token/ERC20/ERC20Upgradeable.sol";
import {
    ERC20PermitUpgradeable
} from "@openzeppelin/contracts-upgradeable/token/ERC20/extensions/ERC20PermitUpgradeable.sol";

import {Sweepable} from "./Sweepable.sol";
import {IEquityShares} from "./interfaces/IEquityShares.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";

/// @title See {IEquityShares}.
contract EquityShares is IEquityShares, ERC20PermitUpgradeable, Sweepable {
    /// @inheritdoc IEquityShares
    IEquityToken public immutable token;

    constructor(IEquityToken token_, IERC20 usdc_, address pool_) Sweepable(usdc_, pool_) {
        token = token_;
    }

    modifier onlyToken() {
        require(msg.sender == address(token), NotToken(address(token), msg.sender));
        _;
    }

    /// @inheritdoc IEquityShares
    function mint(uint256 amount) external onlyToken {
        _mint(pool, amount);
    }

    /// @inheritdoc IEquityShares
    function burn(uint256 amount) external onlyToken {
        _burn(pool, amount);
    }

    /// @inheritdoc IEquityShares
    function equity() public view returns (bytes32) {
        return bytes32(Clones.fetchCloneArgs(address(this)));
    }

    /// @notice The symbol as text: an equity's only name here.
    function name() public view override(ERC20Upgradeable, IERC20Metadata) returns (string memory) {
        bytes32 word = equity();
        uint256 length = 0;
        while (length < 32 && word[length] != 0) length++;
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = word[i];
        return string(text);
    }

    /// @notice The symbol as text.
    function symbol() public view override(ERC20Upgradeable, IERC20Metadata) returns (string memory) {
        return name();
    }

    /// @notice Shares have 9 decimals.
    function decimals() public pure override(ERC20Upgradeable, IERC20Metadata) returns (uint8) {
        return 9;
    }

    /// @inheritdoc IEquityShares
    function canSend(address account) external view returns (bool) {
        return token.isCleared(equity(), account);
    }

    /// @inheritdoc IEquityShares
    function canReceive(address account) external view returns (bool) {
        return token.isCleared(equity(), account);
    }

    /// @inheritdoc IEquityShares
    function canTransfer(address from, address to, uint256 amount) external view returns (bool) {
        if (from == address(0) || to == address(0) || balanceOf(from) < amount) return false;
        try token.requireTransferable(equity(), from, from, to) {
            return true;
        } catch {
            return false;
        }
    }

    /// @inheritdoc IEquityShares
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
