"""Translates lines of standard input: translate.py MODEL < text"""

import sys

import sylvan


def main() -> None:
    model = sylvan.Model.open(sys.argv[1])
    for translation in model.translate(line.rstrip("\n") for line in sys.stdin):
        print(translation)


if __name__ == "__main__":
    main()
