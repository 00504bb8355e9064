from bellcrank.elastic.material import *
from bellcrank.elastic.elements import Element
from bellcrank.elastic.material import Material, Analysis, Mass
