"""What is known of LIBSVM's data sets: shape, checksum of the text, where it is published, whose data it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


@dataclass(frozen=True)
class Entry:
    """One file. `nnz` counts stored values; `bytes` and `sha256` are those of the text, not of a compressed file.

    `features` is the number to use: the text may stop before the last one (a9a.t at 122, a1a at 119). `page` is the
    path on LIBSVM's site. The two without one are not downloaded, and a file of theirs is known by its numbers of rows
    and values instead of its checksum: copies in use differ in the layout of the text, and `sha256` is that of one.
    """

    name: str
    kind: Literal["binary", "multiclass", "regression"]
    rows: int
    features: int
    classes: int  # 0 for regression
    nnz: int
    bytes: int
    page: str | None
    sha256: str
    credit: str  # whose data it is, and the licence ("no licence": none is stated)

    @property
    def key(self) -> str:
        """Under which the cache keeps it."""
        return f"{self.name}-{self.sha256[:16]}-"

    def differs(self, sha256: str | None, rows: int, nnz: int) -> str | None:
        """How a text differs from this one; None: it does not."""
        if self.page is not None:
            return None if sha256 == self.sha256 else f"the sha256 of its text is {sha256}, expected {self.sha256}"
        if (rows, nnz) == (self.rows, self.nnz):
            return None
        return f"{rows} rows with {nnz} values, expected {self.rows} with {self.nnz}"


_ENTRIES = (
    Entry("a9a", "binary", 32561, 123, 2, 451592, 2329875, "binary/a9a",
          "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906", "Adult: UCI, CC BY 4.0"),
    Entry("a9a.t", "binary", 16281, 123, 2, 225731, 1164628, "binary/a9a.t",
          "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9", "Adult: UCI, CC BY 4.0"),
    Entry("w8a", "binary", 49749, 300, 2, 579586, 3478238, "binary/w8a",
          "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2", "Web pages: Platt 1998, no licence"),
    Entry("w8a.t", "binary", 14951, 300, 2, 174276, 1045870, "binary/w8a.t",
          "618929ecb01bebb841daec4cae4aa07b97832d29b08652452775598929547fde", "Web pages: Platt 1998, no licence"),
    Entry("dna.scale", "multiclass", 2000, 180, 3, 91233, 499248, "multiclass/dna.scale",
          "03d39477c5e48415e9cd18e006efc8f7a3b5c3deaee8289a72511c35070e3cfe", "Statlog DNA: UCI, CC BY 4.0"),
    Entry("dna.scale.t", "multiclass", 1186, 180, 3, 53669, 293744, "multiclass/dna.scale.t",
          "d2eeed170e4e38ae2aba6aa4cd27a8ca4ecceb01a7751e8e509bb4e1a6bcef39", "Statlog DNA: UCI, CC BY 4.0"),
    Entry("dna.scale.tr", "multiclass", 1400, 180, 3, 63945, 349928, "multiclass/dna.scale.tr",
          "101d8f3dc2b4da34263a9dd35694a3896df5830de16650f1307dfa4e0c47976c", "Statlog DNA: UCI, CC BY 4.0"),
    Entry("dna.scale.val", "multiclass", 600, 180, 3, 27288, 149320, "multiclass/dna.scale.val",
          "5028d909949f791be3628f9f4f25a33de9c470ad5c7458a3f5d62a2e0eb9d2ba", "Statlog DNA: UCI, CC BY 4.0"),
    Entry("connect-4", "multiclass", 67557, 126, 3, 2837394, 14744061, "multiclass/connect-4",
          "6fd5ca7fb3d027ab19412a3ee4af7f9198a699064bc478cfc915b208a7addcac", "Connect-4: UCI, CC BY 4.0"),
    Entry("news20", "multiclass", 15935, 62061, 20, 1272569, 9003251, "multiclass/news20.bz2",
          "1d6eb77c42e1c78e86f36af834268de933da3607f38e3703aef15f7a9f11e506", "20 Newsgroups: Lang 1995, no licence"),
    Entry("sector.scale", "multiclass", 6412, 55197, 105, 1045412, 12995283, "multiclass/sector/sector.scale.bz2",
          "92d5752b798bb88466b7142b07fc370eea99b19366b84e82e430fb74ada4293f", "McCallum & Nigam 1998, no licence"),
    Entry("sector.t.scale", "multiclass", 3207, 55197, 105, 524492, 6524206, "multiclass/sector/sector.t.scale.bz2",
          "be2e76ff48816c832823ab593e70970c599acb16ae311578b7308c6a8496db1b", "McCallum & Nigam 1998, no licence"),
    Entry("mushrooms", "binary", 8124, 112, 2, 170604, 879712, "binary/mushrooms",
          "f39a4eb628dc61a7d43760815b061c9e497aa728ce1ad8bde57a09ef6043b538", "Mushroom: UCI, CC BY 4.0"),
    Entry("madelon", "binary", 2000, 500, 2, 1000000, 7788995, "binary/madelon",
          "4801c452441772b47674fa8deb3724b1cb897eff49ccd8d47078367080c05b54", "Madelon: UCI, CC BY 4.0"),
    Entry("madelon.t", "binary", 600, 500, 2, 300000, 2336699, "binary/madelon.t",
          "ae60251b63a46c6ace348b77749e79e25d4098d629d1dead2852c3d4daf1f8ea", "Madelon: UCI, CC BY 4.0"),
    Entry("colon-cancer", "binary", 62, 2000, 2, 124000, 1674370, None,
          "e63943960d96fff9244527df533d154f556b19e008aa32f03103d9f90ea83fd0", "Alon et al. 1999, no licence"),
    Entry("heart_scale", "binary", 270, 13, 2, 3378, 27670, "binary/heart_scale",
          "5defa0a4c4c5bdaf3f55ae3828310252e8565c13ee37ce279e0b86d82e7f4ce9", "Statlog heart: UCI, CC BY 4.0"),
    Entry("breast-cancer", "binary", 683, 10, 2, 6830, 87065, "binary/breast-cancer",
          "445505b580a88e9e19b533b4f126d3dda1883bc7551e46907041ca263aa3c5d9", "Breast cancer: UCI, CC BY 4.0"),
    Entry("german.numer_scale", "binary", 1000, 24, 2, 23001, 165393, "binary/german.numer_scale",
          "97637cc6b994bd3fa78999c771bc044bea7a0cdf91d43b6ecfd10f7e7c4ebc82", "German credit: UCI, CC BY 4.0"),
    Entry("splice_scale", "binary", 1000, 60, 2, 60000, 541716, "binary/splice_scale",
          "acf38472f2077e7d40f1a551f0e920298aedbcb73c50ae481ec64976b5e54940", "Splice junctions: UCI, CC BY 4.0"),
    Entry("cadata", "regression", 20640, 8, 0, 165120, 1318692, None,
          "ffefbe2e9f0af268b72f523af41ef6076b59fa842482de0c586f81d3162a4a2a", "Pace & Barry 1997, StatLib"),
    Entry("abalone_scale", "regression", 4177, 8, 0, 32080, 366319, "regression/abalone_scale",
          "7cd2116eb9eae22213dfa844804e5ee72cb0ab38c71c2c30c3edfb7c00827d47", "Abalone: UCI, CC BY 4.0"),
    Entry("housing_scale", "regression", 506, 13, 0, 6578, 72154, "regression/housing_scale",
          "bbacd2f526a038499717d5dc4b8895e6baf1e2351895b9360a84bcb31e104476", "Harrison & Rubinfeld 1978, StatLib"),
    Entry("a1a", "binary", 1605, 123, 2, 22249, 114818, "binary/a1a",
          "eb54c45f1bdb51286f803dd092eb8202b44637a858fc6c4e533a2d64a0d94b4e", "Adult: UCI, CC BY 4.0"),
    Entry("w1a", "binary", 2477, 300, 2, 28410, 170263, "binary/w1a",
          "0ae2b1c40f6a99061d1c6f4a1f3b50eea58a2f3b8bf851a337c25c2a65a49d32", "Web pages: Platt 1998, no licence"),
)
CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
