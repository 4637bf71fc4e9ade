"""Measurements that anyone can repeat; see the README beside this file."""
